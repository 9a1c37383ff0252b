"""Metrics of torchmetrics, by class and by function."""

import torchmetrics as tm
import torchmetrics.functional as TF
from same import integers, normal

logits, labels = normal(64, 5), integers(5, 64)
many = {
    "accuracy": tm.Accuracy(task="multiclass", num_classes=5),
    "f1": tm.F1Score(task="multiclass", num_classes=5, average="macro"),
    "recall": tm.Recall(task="multiclass", num_classes=5, average=None),
    "confusion": tm.ConfusionMatrix(task="multiclass", num_classes=5),
    "auroc": tm.AUROC(task="multiclass", num_classes=5),
    "precision": tm.AveragePrecision(task="multiclass", num_classes=5),
    "calibration": tm.CalibrationError(task="multiclass", num_classes=5),
    "kappa": tm.CohenKappa(task="multiclass", num_classes=5),
}
collection = tm.MetricCollection(many)
for part in range(0, 64, 16):
    collection.update(logits[part : part + 16].softmax(-1), labels[part : part + 16])
for name, value in collection.compute().items():
    print(name, [round(v, 5) for v in value.flatten().tolist()])

p, t = normal(50), normal(50, seed=5)
for name in (
    "mean_squared_error mean_absolute_error r2_score pearson_corrcoef spearman_corrcoef explained_variance "
    "concordance_corrcoef kendall_rank_corrcoef symmetric_mean_absolute_percentage_error cosine_similarity"
).split():
    shape = (5, 10) if name == "cosine_similarity" else (50,)
    print(name, round(getattr(TF, name)(p.reshape(shape), t.reshape(shape)).item(), 5))
mean = tm.MeanMetric()
for v in (1.0, 2.0, 6.0):
    mean.update(v)
print("mean", mean.compute().item())
images = normal(2, 3, 32, 32).sigmoid(), normal(2, 3, 32, 32, seed=9).sigmoid()
print(f"{TF.image.structural_similarity_index_measure(*images).item():.5f}")
print(f"{TF.image.peak_signal_noise_ratio(*images, data_range=1.0).item():.4f}")
print(f"{TF.text.perplexity(normal(2, 6, 5), integers(5, 2, 6)).item():.5f}")
print(f"{TF.pairwise_euclidean_distance(normal(3, 4)).sum().item():.5f}")
