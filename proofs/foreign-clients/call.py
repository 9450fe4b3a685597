"""Makes the calls of standard input with the generated package `client`, one line of JSON each."""

import datetime
import enum
import importlib
import json
import sys
import typing
import uuid

from client import AuthenticatedClient

_, address = sys.argv


def snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).replace("-", "").lstrip("_")


def converted(hint: typing.Any, value: typing.Any) -> typing.Any:
    """Returns a parameter or a body as the type that the generated function takes."""
    for kind in typing.get_args(hint) or (hint,):
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return kind(value)
        if kind is datetime.datetime:
            return datetime.datetime.fromisoformat(value)
        if kind is uuid.UUID:
            return uuid.UUID(value)
        if isinstance(value, dict) and hasattr(kind, "from_dict"):
            try:
                model = kind.from_dict(value)
            except KeyError:
                continue
            if plain(model.to_dict()) == plain(value):
                return model
    return value


def plain(value: typing.Any) -> typing.Any:
    """Returns a value with one form of times."""
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [plain(member) for member in value]
    try:
        return datetime.datetime.fromisoformat(value).timestamp()
    except (TypeError, ValueError):
        return value


for line in sys.stdin:
    row = json.loads(line)
    module = importlib.import_module(f"client.api.{row['tag']}.{snake(row['operation'])}")
    hints = typing.get_type_hints(module.sync_detailed)
    # Python's own words have a line at their end.
    given = {
        name if name in hints else f"{name}_": value
        for name, value in ((snake(option), value) for option, value in row["options"].items())
    }
    try:
        arguments = {name: converted(hints[name], value) for name, value in given.items()}
    except ValueError as error:
        # The model itself refuses the value.
        print(json.dumps({"status": 0, "body": str(error), "same": True}), flush=True)
        continue
    client = AuthenticatedClient(base_url=address, token=row["credential"])
    with client:
        reply = module.sync_detailed(client=client, **arguments)
    is_json = "json" in reply.headers["content-type"]
    body = json.loads(reply.content) if is_json else reply.content.decode()
    # The generated model writes what the service sent, unless it misses a member.
    model = reply.parsed.to_dict() if is_json else reply.parsed
    print(json.dumps({"status": int(reply.status_code), "body": model, "same": plain(model) == plain(body)}), flush=True)
