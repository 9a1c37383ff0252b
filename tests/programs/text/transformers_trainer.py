"""The Trainer of transformers: accumulation, clipping, a schedule, evaluation."""

import tempfile

import numpy as np
import torch
from same import integers, start
from transformers import BertConfig, BertForSequenceClassification, PrinterCallback, Trainer, TrainingArguments
from transformers.utils import logging

logging.set_verbosity_error()
tokens, labels = integers(60, 24, 10), integers(3, 24)
rows = [{"input_ids": tokens[i], "labels": labels[i]} for i in range(24)]
config = BertConfig(
    vocab_size=60,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=64,
    num_labels=3,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)
model = start(BertForSequenceClassification(config), scale=0.1)


class InOrder(Trainer):
    def _get_train_sampler(self, *args):
        return torch.utils.data.SequentialSampler(self.train_dataset)


with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder,
        num_train_epochs=3,
        per_device_train_batch_size=4,
        gradient_accumulation_steps=2,
        learning_rate=1e-3,
        lr_scheduler_type="cosine",
        warmup_steps=2,
        max_grad_norm=0.5,
        logging_steps=1,
        report_to=[],
        use_cpu=True,
        save_strategy="epoch",
        eval_strategy="epoch",
        disable_tqdm=True,
        dataloader_pin_memory=False,
    )
    trainer = InOrder(
        model,
        arguments,
        train_dataset=rows,
        eval_dataset=rows[:8],
        compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    kept = ("loss", "grad_norm", "learning_rate", "eval_loss", "eval_accuracy")
    for entry in trainer.state.log_history:
        print({k: float(np.round(v, 5)) for k, v in entry.items() if k in kept})
    print(trainer.predict(rows[:3]).predictions)
    trainer.save_model(folder)
    again = BertForSequenceClassification.from_pretrained(folder)
    print(again(tokens[:2]).logits)
