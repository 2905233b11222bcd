"""Tokenizers and other objects around compiled code that a module keeps and its region calls."""

from programs import analysed, found, marked

MODELS = """
    import faiss
    import sentencepiece
    import tiktoken
    import torch
    from rdkit import Chem
    from tokenizers import Tokenizer
    from transformers import AutoTokenizer, CLIPTokenizer, PreTrainedTokenizerFast

    class Text(torch.nn.Module):
        def __init__(self, given: PreTrainedTokenizerFast, name="gpt2"):
            super().__init__()
            self.given = given
            self.any = AutoTokenizer.from_pretrained(name)
            self.clip = CLIPTokenizer.from_pretrained(name)
            self.clip.pad_token = self.clip.eos_token
            self.pieces = sentencepiece.SentencePieceProcessor(model_file=name)
            self.encoding = tiktoken.get_encoding(name)
            self.plain = Tokenizer.from_file(name)
            self.index = faiss.IndexFlatL2(4)
            self.pad = self.any.pad_token_id

        def forward(self, texts, x: torch.Tensor):
            batch = self.any(texts, return_tensors="pt", padding=True)  # BRK599
            ids = self.clip.encode(texts)  # BRK599
            mask = x != self.given.pad_token_id  # BRK599
            pieces = self.pieces.encode(texts)  # BRK599
            tokens = self.encoding.encode(texts)  # BRK599
            plain = self.plain.encode(texts)  # BRK599
            near = self.index.search(x.numpy(), 2)  # BRK599
            molecule = Chem.MolFromSmiles("CCO")  # BRK599
            return x * (x != self.pad), self.index.ntotal, self.given.eos_token
"""


def test_a_call_ends_the_graph_wherever_the_package_is(tmp_path):
    result = analysed(tmp_path, {"models.py": MODELS})
    assert set(found(result)) == marked((tmp_path / "models.py").read_text())
    assert {f.confidence for f in result.findings} == {"likely"}
