"""Starts LocalStack without Docker: functions run as processes, and DynamoDB Local runs already.

Reads NODE, the program that runs functions, and DYNAMODB_LOCAL_PORT, besides LocalStack's own settings.
"""

import functools
import json
import os
import subprocess
import tempfile
import threading
import warnings

import typing_extensions

# LocalStack uses two features of Python 3.13, which 3.12 gets here.
warnings.deprecated = typing_extensions.deprecated


class Lock:
    """Allows LocalStack's annotation `Lock | None`."""

    new = staticmethod(threading.Lock)

    def __new__(cls):
        return cls.new()


threading.Lock = Lock

import gateway
from localstack.services.cloudformation.engine.v2.change_set_resource_support_checker import (
    ChangeSetResourceSupportChecker,
)
from localstack.services.dynamodb.server import DynamodbServer
from localstack.services.lambda_.invocation.execution_environment import ExecutionEnvironment
from localstack.services.lambda_.invocation.lambda_models import InvocationResult
from localstack.services.lambda_.invocation.plugins import DockerRuntimeExecutorPlugin
from localstack.services.lambda_.invocation.runtime_executor import (
    LambdaRuntimeException,
    RuntimeExecutor,
)
from twisted.internet import endpoints

BUNDLE_PROCESS = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../infra/bundles/bundle-process.mjs"
)
# Variables of LocalStack's container, which Lambda does not set.
CONTAINER_VARIABLES = {"EDGE_PORT", "AWS_LAMBDA_FUNCTION_TIMEOUT"}


class ProcessExecutor(RuntimeExecutor):
    """Runs an execution environment, one invocation at a time, as a process of Node."""

    # Concurrent starts would exceed the timeouts of functions that run already.
    starting = threading.Lock()

    def __init__(self, id, function_version):
        super().__init__(id, function_version)
        self.process = None

    def start(self, env_vars):
        self.variables = {
            **{
                name: str(value)
                for name, value in env_vars.items()
                if name not in CONTAINER_VARIABLES and not name.startswith("LOCALSTACK_")
            },
            "AWS_EXECUTION_ENV": f"AWS_Lambda_{self.function_version.config.runtime}",
            "LANG": "en_US.UTF-8",
            "PATH": "/usr/local/bin:/usr/bin:/bin",
        }
        with self.starting:
            self._start_process()

    def _start_process(self):
        lambda_config = self.function_version.config
        code = str(lambda_config.code.get_unzipped_code_location())
        bundle = os.path.join(code, f"{lambda_config.handler.rsplit('.', 1)[0]}.mjs")
        reading, writing = os.pipe()
        with tempfile.NamedTemporaryFile("ab", delete=False) as output:
            self.process = subprocess.Popen(
                [os.environ["NODE"], BUNDLE_PROCESS, bundle, str(writing)],
                cwd=code,
                env=self.variables,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                pass_fds=[writing],
                text=True,
            )
        os.close(writing)
        self.replies = os.fdopen(reading, encoding="utf-8")
        self.output = open(output.name, encoding="utf-8", errors="replace")
        os.remove(output.name)
        if not self.replies.readline():
            raise LambdaRuntimeException(self.get_logs())

    def stop(self):
        if self.process is None:
            return
        process, self.process = self.process, None
        process.kill()
        process.wait()
        process.stdin.close()
        self.replies.close()
        self.output.close()

    def invoke(self, payload):
        if self.process is None:
            with self.starting:
                self._start_process()
        reply = self._reply_to(payload)
        error = reply.get("error")
        body = json.dumps(error or reply["value"], separators=(",", ":")).encode()
        logs = self.get_logs()
        if error:
            logs += json.dumps({"level": "ERROR", "requestId": payload["invoke-id"], **error}) + "\n"
            # Lambda ends an environment after a timeout or a crash.
            if error["errorType"] in ("Sandbox.Timedout", "Runtime.ExitError"):
                self.stop()
        return InvocationResult(
            request_id=payload["invoke-id"], payload=body, is_error=bool(error), logs=logs
        )

    def _reply_to(self, payload):
        version = self.function_version
        message = {
            "id": payload["invoke-id"],
            "event": json.loads(payload["payload"] or "{}"),
            "timeoutSeconds": version.config.timeout,
            "context": {
                "awsRequestId": payload["invoke-id"],
                "functionName": version.id.function_name,
                "functionVersion": version.id.qualifier,
                "invokedFunctionArn": payload["invoked-function-arn"],
                "memoryLimitInMB": str(version.config.memory_size),
                "logGroupName": self.variables["AWS_LAMBDA_LOG_GROUP_NAME"],
                "logStreamName": self.variables["AWS_LAMBDA_LOG_STREAM_NAME"],
            },
        }
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
            reply = self.replies.readline()
        except BrokenPipeError:
            reply = ""
        if not reply:
            return {
                "error": {
                    "errorType": "Runtime.ExitError",
                    "errorMessage": f"RequestId: {payload['invoke-id']} Error: Runtime exited",
                }
            }
        return json.loads(reply)

    def get_logs(self):
        """Returns the output since the last call; the process writes it before its reply."""
        return self.output.read()

    def get_address(self):
        return "127.0.0.1"

    def get_endpoint_from_executor(self):
        return "127.0.0.1"

    def get_runtime_endpoint(self):
        return ""

    @classmethod
    def prepare_version(cls, function_version):
        function_version.config.code.prepare_for_execution()

    @classmethod
    def cleanup_version(cls, function_version):
        pass


def log_group_name(environment):
    version = environment.function_version
    default = f"/aws/lambda/{version.id.function_name}"
    return version.config.logging_config.get("LogGroup") or default


gateway.install()
DockerRuntimeExecutorPlugin.load = lambda self: ProcessExecutor
# LocalStack ignores the log group of a function's configuration.
ExecutionEnvironment.get_log_group_name = log_group_name
# The checker needs a download; a type without provider fails when CloudFormation creates it.
ChangeSetResourceSupportChecker.failure_messages = []
# LocalStack listens on all interfaces, in spite of GATEWAY_LISTEN.
endpoints.TCP4ServerEndpoint = functools.partial(
    endpoints.TCP4ServerEndpoint, interface="127.0.0.1"
)
DynamodbServer.start_dynamodb = lambda self: True

if __name__ == "__main__":
    from localstack.runtime.main import main

    main()
