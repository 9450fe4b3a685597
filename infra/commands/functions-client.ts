import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'

/** Invokes functions through the Lambda API: of a stage on AWS, or of the sandbox on this machine. */
export type Target = { port: number } | { stage: string }

/** Functions on AWS carry their stage in their name. */
export const functionName = (name: string, stage: string): string =>
  `debit-collection-${stage}-${name}`

const LOCAL = {
  region: 'eu-west-1',
  credentials: { accessKeyId: 'sandbox', secretAccessKey: 'sandbox' },
}

export class InvocationFailure extends Error {}

/**
 * @returns the function's reply
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
  const { Payload, FunctionError } = await client
    .send(new InvokeCommand({ FunctionName, Payload: JSON.stringify(event) }))
    .catch((error: Error & { code?: string }) => {
      throw new InvocationFailure(
        local && error.code === 'ECONNREFUSED'
          ? `No sandbox answers at port ${target.port}: start it with npm run sandbox`
          : error.message,
      )
    })
  const reply: unknown = JSON.parse(Buffer.from(Payload ?? []).toString('utf8') || 'null')
  if (FunctionError) {
    const { errorType, errorMessage } = reply as { errorType?: string; errorMessage?: string }
    throw new InvocationFailure(`${name}: ${errorType}: ${errorMessage}`)
  }
  return reply
}

/** Prints one line on standard error and ends with 1. */
export const fail = (line: string): never => {
  process.stderr.write(`${line}\n`)
  process.exit(1)
}
