"""Skorch's estimators with scikit-learn's search and pipeline."""

import numpy as np
import torch
from same import start
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier, NeuralNetRegressor
from skorch.callbacks import EpochScoring, GradientNormClipping, LRScheduler
from skorch.dataset import ValidSplit

rng = np.random.default_rng(0)
x = rng.normal(size=(120, 5)).astype("float32")
y = (x[:, 0] * x[:, 1] > 0).astype("int64")


class Net(torch.nn.Module):
    def __init__(self, width=8, out=2):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(5, width), torch.nn.ReLU(), torch.nn.Linear(width, out))
        start(self)

    def forward(self, x):
        return self.layers(x)


net = NeuralNetClassifier(
    Net,
    criterion=torch.nn.CrossEntropyLoss,
    optimizer=torch.optim.Adam,
    lr=0.05,
    max_epochs=6,
    batch_size=32,
    train_split=ValidSplit(4, stratified=True),
    iterator_train__shuffle=False,
    verbose=0,
    callbacks=[
        LRScheduler(torch.optim.lr_scheduler.StepLR, step_size=2),
        GradientNormClipping(1.0),
        EpochScoring("roc_auc", lower_is_better=False),
    ],
)
pipe = make_pipeline(StandardScaler(), net)
pipe.fit(x, y)
np.set_printoptions(precision=5, suppress=True)
print(np.round(net.history[:, ("train_loss", "valid_loss", "roc_auc")], 6).tolist())
print(pipe.predict_proba(x[:4]))
search = GridSearchCV(net, {"module__width": [4, 16], "lr": [0.01, 0.1]}, cv=3, scoring="accuracy")
search.fit(x, y)
print(search.best_params_["lr"], search.cv_results_["mean_test_score"])
regressor = NeuralNetRegressor(Net, module__out=1, lr=0.05, max_epochs=5, train_split=None, verbose=0)
regressor.fit(x, x[:, :1] * 2)
print(regressor.history[:, "train_loss"], regressor.predict(x[:3]).ravel())
