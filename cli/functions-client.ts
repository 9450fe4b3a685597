import { userInfo } from 'node:os'
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { functionName } from '../infra/definitions/function-name.ts'

/** Invokes functions through the Lambda API: of a stage on AWS, or of the sandbox on this machine. */
export type Target = { port: number } | { stage: string }

const LOCAL = {
  region: 'eu-west-1',
  credentials: { accessKeyId: 'sandbox', secretAccessKey: 'sandbox' },
}

export class InvocationFailure extends Error {}

type Failure = Error & { code?: string }

/** What the SDK's errors mean to whoever typed the command, by their names and codes. */
const meanings: Record<string, (wanted: string) => string> = {
  CredentialsProviderError: () =>
    'No AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  ExpiredTokenException: () => 'The AWS credentials have expired',
  UnrecognizedClientException: () => 'AWS does not know these credentials',
  AccessDeniedException: (wanted) => `These AWS credentials may not invoke ${wanted}`,
  ResourceNotFoundException: (wanted) =>
    `There is no function ${wanted}: is this stage deployed in this region and account?`,
  ENOTFOUND: () => 'AWS cannot be reached: its name does not resolve',
  ECONNREFUSED: () => 'AWS cannot be reached: the connection was refused',
}

const explain = (error: Failure, target: Target, wanted: string): string => {
  if ('port' in target && error.code === 'ECONNREFUSED') {
    return `No sandbox answers at port ${target.port}: start it with npm run sandbox`
  }
  // Errors of the Lambda API have such names; others come of replies that the SDK cannot read.
  if ('port' in target && !error.name.endsWith('Exception')) return notLambda(target)
  if (error.message === 'Region is missing') return 'No AWS region: set AWS_REGION'
  const meaning = meanings[error.name] ?? meanings[error.code ?? '']
  return meaning?.(wanted) ?? `${error.name}: ${error.message.replaceAll(/\s+/g, ' ')}`
}

const notLambda = (target: Target): string =>
  'port' in target
    ? `Port ${target.port} is answered by something else than the sandbox`
    : 'The endpoint of AWS Lambda is answered by something else'

/** undefined: no JSON */
const parsed = (payload: Uint8Array | undefined): unknown => {
  try {
    return JSON.parse(Buffer.from(payload ?? []).toString('utf8'))
  } catch {
    return undefined
  }
}

/**
 * @returns the function's reply, an object or another value of JSON
 * @throws InvocationFailure in one line, for a target that does not answer and for a function that
 *   does not exist or ended in a fault
 */
export const invokeFunction = async (
  target: Target,
  name: string,
  event: unknown,
): Promise<unknown> => {
  const local = 'port' in target
  const client = new LambdaClient(
    local ? { ...LOCAL, endpoint: `http://127.0.0.1:${target.port}`, maxAttempts: 1 } : {},
  )
  const FunctionName = local ? name : functionName(name, target.stage)
  const { Payload, FunctionError, ExecutedVersion } = await client
    .send(new InvokeCommand({ FunctionName, Payload: JSON.stringify(event) }))
    .catch((error: Failure) => {
      throw new InvocationFailure(explain(error, target, FunctionName))
    })
  const reply = parsed(Payload)
  // The sandbox and Lambda always name the version that ran.
  if (reply === undefined || (local && ExecutedVersion === undefined)) {
    throw new InvocationFailure(notLambda(target))
  }
  if (FunctionError) {
    const { errorType, errorMessage } = reply as { errorType?: string; errorMessage?: string }
    throw new InvocationFailure(`${name}: ${errorType}: ${errorMessage}`)
  }
  return reply
}

/**
 * Returns who calls, for the record of changes: the ARN of the AWS credentials, or the local user.
 * In a sandbox OPERATOR_NAME replaces the user, so that one person can act as two operators.
 * Without an answer of STS the caller is unknown here; CloudTrail records it, and Lambda's reply
 * says what is wrong with the credentials.
 */
export const actorOf = async (target: Target): Promise<string> => {
  if ('port' in target) return `local:${process.env.OPERATOR_NAME || userInfo().username}`
  // Loaded for a deployed stage alone: a sandbox has no STS.
  const { GetCallerIdentityCommand, STSClient } = await import('@aws-sdk/client-sts')
  const identity = new STSClient({}).send(new GetCallerIdentityCommand())
  const { Arn } = await identity.catch((): { Arn?: string } => ({}))
  return Arn ?? 'unknown'
}

/** Prints one line on standard error and ends with 1. */
export const fail = (line: string): never => {
  process.stderr.write(`${line}\n`)
  process.exit(1)
}
