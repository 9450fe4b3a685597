"""Writes the wire types, src/debit_collection/wire.py, from docs/openapi.json and docs/bank-protocol.json."""

import json
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent
WIRE = HERE / "src/debit_collection/wire.py"
OPTIONS = [
    "--input-file-type=openapi",
    "--output-model-type=typing.TypedDict",
    "--target-python-version=3.10",
    "--use-union-operator",
    "--use-standard-collections",
    "--use-title-as-name",
    "--formatters=builtin",
    "--custom-file-header=# Generated from docs/openapi.json and docs/bank-protocol.json by generate.py.",
]
# Schemas of banks and requests, the envelope, and a variant of webhooks.
OTHERS = (
    "BankTransactionList",
    "ChargeFields",
    "DebitCallback",
    "Meta",
    "Problem",
    "ReducedTransaction",
    "RequestReversalFields",
    "UpdateDebit",
)
# The requests to banks and their parts, by their names in Python; a payout is the only payment.
BANK_REQUESTS = {
    "Submission": "Submission",
    "Payout": "Payment",
    "RefundOrder": "RefundOrder",
    "Payee": "Payee",
}


def prepared(schema: Any, name: str = "") -> Any:
    """Returns the schema with decimals as fractions and with names for inline objects."""
    if isinstance(schema, list):
        return [prepared(one, name) for one in schema if "ReducedTransaction" not in str(one)]
    if not isinstance(schema, dict):
        return schema
    kinds = schema.get("type", "")
    if "number" in kinds and "enum" not in schema:
        return {"type": ["string", "null"] if "null" in kinds else "string", "format": "decimal"}
    # Members that may be absent need `NotRequired`, which Python 3.10 lacks.
    if "object" in kinds and set(schema.get("required", ())) < set(schema.get("properties", ())):
        return {"type": "object"}
    members = {key: prepared(member, name) for key, member in schema.items() if key != "description"}
    if "properties" in schema:
        members["title"] = name
        members["properties"] = {
            key: prepared(member, name + key.title().replace("_", ""))
            for key, member in schema["properties"].items()
        }
    return members


def final_values(document: Any) -> str:
    """Returns the final values of each schema that has some, such as `FINAL_DEBIT_STATUSES`."""
    constants = []
    for name, schema in document["components"]["schemas"].items():
        if "x-final" in schema:
            words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()
            values = tuple(schema["x-final"])
            constants.append(f"\n\nFINAL_{words}ES: tuple[{name}, ...] = {values!r}\n")
    return "".join(constants)


def described(name: str) -> Any:
    return json.loads((HERE / f"../../docs/{name}.json").read_text())


def bank_request(schema: Any, name: str) -> Any:
    """Returns the schema of a request as a bank receives it: the kit sets absent members to None."""
    members = {
        member: value if member in schema["required"] else {**value, "type": [value["type"], "null"]}
        for member, value in schema["properties"].items()
    }
    return prepared({**schema, "properties": members, "required": list(members)}, name)


def handlers(document: Any) -> str:
    """Returns the type of the handlers, by event."""
    lines = []
    for name, webhook in document["webhooks"].items():
        schema = webhook["post"]["requestBody"]["content"]["application/json"]["schema"]
        if name != "ping":
            lines.append(f'"{name}": Handler[{schema["$ref"].rsplit("/", 1)[1]}],')
    return f"""

E = TypeVar("E")
Handler: TypeAlias = Callable[[E, Any], object]

Handlers = TypedDict("Handlers", {{ {"".join(lines)} }}, total=False)
\"\"\"Handlers by event. Each receives the event and the transaction of the store.\"\"\"
"""


def wire_types() -> str:
    document = described("openapi")
    requests = described("bank-protocol")["components"]["schemas"]
    schemas = {
        name: prepared(schema, name)
        for name, schema in document["components"]["schemas"].items()
        if not name.startswith(OTHERS)
    } | {name: bank_request(requests[published], name) for name, published in BANK_REQUESTS.items()}
    prepared_document = {
        "openapi": "3.1.0",
        "info": document["info"],
        "paths": {},
        "components": {"schemas": schemas},
    }
    with TemporaryDirectory() as folder:
        source, output = Path(folder) / "openapi.json", Path(folder) / "wire.py"
        source.write_text(json.dumps(prepared_document))
        program = [sys.executable, "-m", "datamodel_code_generator", *OPTIONS]
        subprocess.run([*program, f"--input={source}", f"--output={output}"], check=True)
        formatter = [sys.executable, "-m", "ruff", "format", f"--stdin-filename={WIRE}", "-"]
        text = output.read_text() + final_values(document) + handlers(document)
        text = text.replace("from decimal", "from collections.abc import Callable\nfrom decimal", 1)
        text = text.replace(", TypedDict\n", ", TypedDict, TypeVar\n", 1)
    done = subprocess.run(formatter, input=text, capture_output=True, check=True, text=True)
    return done.stdout


if __name__ == "__main__":
    WIRE.write_text(wire_types())
