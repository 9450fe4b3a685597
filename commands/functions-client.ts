import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { resourceName } from '../infra/definitions/resource-name.ts'
import { StartFailure } from '../sandbox/start-failure.ts'
import { parseJson } from '../shared/domain/json.ts'
import { printable } from '../shared/domain/text.ts'
import { commandLine } from './terminal/arguments.ts'

/** Invokes functions through the Lambda API, on AWS or in the local sandbox. */
export type FunctionTarget = { port: number } | { stage: string }

const LOCAL = {
  region: 'eu-west-1',
  credentials: { accessKeyId: 'sandbox', secretAccessKey: 'sandbox' },
}

/**
 * A retry could run in parallel with the first call, so operators repeat failed calls themselves. The
 * SDK keeps the connection alive by TCP probes, so no NAT closes it as idle.
 */
const ONE_ATTEMPT = {
  maxAttempts: 1,
  requestHandler: {
    connectionTimeout: 10_000,
    // Longer than any function may run.
    requestTimeout: 930_000,
    throwOnRequestTimeout: true,
  },
}

export class InvocationFailure extends StartFailure {}

/** `error` is that of the API's envelope. */
type SdkError = Error & { code?: string; error?: { code?: number } }

export const connectionBroke = (name: string): string =>
  `The connection to ${name} broke: the call may have run; check its effect before you repeat it`

const explanations: Record<string, (name: string) => string> = {
  CredentialsProviderError: () =>
    'No AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  ExpiredTokenException: () => 'The AWS credentials have expired',
  UnrecognizedClientException: () => 'AWS does not recognise these credentials',
  AccessDeniedException: (name) => `These AWS credentials do not allow invoking ${name}`,
  ResourceNotFoundException: (name) =>
    `Function ${name} does not exist: is this stage deployed in this region and account?`,
  TooManyRequestsException: (name) => `Function ${name} did not run: AWS limits calls; repeat it`,
  // The SDK uses this name also for a connection that breaks before the reply.
  TimeoutError: connectionBroke,
  ECONNRESET: connectionBroke,
  ENOTFOUND: () => 'AWS cannot be reached: the host name does not resolve',
  ECONNREFUSED: () => 'AWS cannot be reached: the connection was refused',
}

export const noSandbox = (port: number): string =>
  `No sandbox answers at port ${port}: start it with ${commandLine('sandbox').replace(/ --$/, '')}`

const explain = (error: SdkError, target: FunctionTarget, name: string): string => {
  if ('port' in target && error.code === 'ECONNREFUSED') {
    return noSandbox(target.port)
  }
  if ('port' in target && error.error?.code === 1503) return 'The sandbox is starting'
  if (error.message === 'Region is missing') return 'No AWS region: set AWS_REGION'
  const explanation = explanations[error.name] ?? explanations[error.code ?? '']
  if (explanation) return explanation(name)
  // Names of Lambda API errors end in Exception; other errors are unreadable replies.
  return 'port' in target && !error.name.endsWith('Exception')
    ? notLambda(target)
    : `${error.name}: ${printable(error.message)}`
}

/** Returns the failure of a call, in one line. */
export const invocationFailure = (error: Error, target: FunctionTarget, name: string) =>
  new InvocationFailure(explain(error, target, name), { cause: error.name })

export const notSandbox = (port: number): string =>
  `Another program than the sandbox answers at port ${port}`

const notLambda = (target: FunctionTarget): string =>
  'port' in target
    ? notSandbox(target.port)
    : 'Another program answers at the endpoint of AWS Lambda'

export const clientOf = (target: FunctionTarget): LambdaClient =>
  new LambdaClient({
    ...ONE_ATTEMPT,
    ...('port' in target && { ...LOCAL, endpoint: `http://127.0.0.1:${target.port}` }),
  })

/**
 * Returns the function's reply, any JSON value.
 * @throws InvocationFailure with one line if the target does not answer, or the function does not
 *   exist or fails
 */
export const invokeFunction = async (
  target: FunctionTarget,
  name: string,
  event: unknown,
): Promise<unknown> => {
  const local = 'port' in target
  const FunctionName = local ? name : resourceName(name, target.stage)
  const { Payload, FunctionError, ExecutedVersion } = await clientOf(target)
    .send(new InvokeCommand({ FunctionName, Payload: JSON.stringify(event) }))
    .catch((error: Error) => {
      throw invocationFailure(error, target, FunctionName)
    })
  const reply = parseJson(Buffer.from(Payload ?? []).toString('utf8'))
  // The sandbox and Lambda always return the executed version.
  if (reply === undefined || (local && ExecutedVersion === undefined)) {
    throw new InvocationFailure(notLambda(target))
  }
  if (FunctionError) {
    const { errorType, errorMessage } = reply as { errorType?: string; errorMessage?: string }
    throw new InvocationFailure(`${name}: ${errorType}: ${errorMessage}`)
  }
  return reply
}
