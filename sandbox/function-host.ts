import { randomUUID } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'
import { clearTimeout, setTimeout } from 'node:timers'
import type { Context, DynamoDBRecord } from 'aws-lambda'
import type { FunctionName } from '../infra/definitions/function-permissions.ts'
import { type FunctionRow, functionRows } from '../infra/definitions/functions.ts'
import { type Runtime, real } from '../shared/runtime.ts'
import { actingAs } from './authorizer.ts'
import { type LambdaHandler, loadFunction } from './aws/load-function.ts'
import type { Command } from './aws/sdk.ts'

/** Runs the functions with Lambda's context, limits and permissions. */

/** Lambda's limits of a synchronous invocation; the errors have Lambda's texts. */
export const REQUEST_MAX_BYTES = 6 * 1024 * 1024
const RESPONSE_MAX_BYTES = REQUEST_MAX_BYTES + 100

/** Returns the records that fit into one invocation. */
export const fitting = (records: DynamoDBRecord[]): DynamoDBRecord[] => {
  let bytes = 0
  const excess = records.findIndex((record) => {
    bytes += Buffer.byteLength(JSON.stringify(record)) + 1
    // The rest of the event is short.
    return bytes > REQUEST_MAX_BYTES - 100
  })
  return excess === -1 ? records : records.slice(0, Math.max(excess, 1))
}

/** Thrown before the function runs. */
export class RequestTooLarge extends Error {
  override name = 'RequestEntityTooLargeException'
  override message =
    `Request must be smaller than ${REQUEST_MAX_BYTES} bytes for the InvokeFunction operation`
}

/** Thrown after the function ran: its effects remain, its response is lost. */
class ResponseTooLarge extends Error {
  override name = 'Function.ResponseSizeTooLarge'
  override message =
    `Response payload size exceeded maximum allowed payload size (${RESPONSE_MAX_BYTES} bytes).`
}

const payloadBytes = (payload: unknown) => Buffer.byteLength(JSON.stringify(payload ?? null))

export type FunctionHost = Awaited<ReturnType<typeof loadFunctions>>

export type InvocationEvent = { name: FunctionName; milliseconds: number }

export const invocations = channel('debit-collection.invocations')

const contextFor = ({ name, timeoutSeconds, memoryMegabytes }: FunctionRow): Context => {
  const deadline = Date.now() + timeoutSeconds * 1000
  return {
    awsRequestId: randomUUID(),
    functionName: name,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:${process.env.AWS_REGION}:000000000000:function:${name}`,
    memoryLimitInMB: String(memoryMegabytes),
    logGroupName: `/aws/lambda/${name}`,
    logStreamName: 'sandbox',
    callbackWaitsForEmptyEventLoop: false,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    done: () => undefined,
    fail: () => undefined,
    succeed: () => undefined,
  }
}

const timedOut = ({ name, timeoutSeconds }: FunctionRow): Error => {
  const error = new Error(`${name}: task timed out after ${timeoutSeconds} seconds`)
  return Object.assign(error, { name: 'Sandbox.Timedout' })
}

export type Load = (row: FunctionRow) => Promise<{ handler: LambdaHandler }>

export const loadWith =
  (runtime: Runtime): Load =>
  async (row) => ({ handler: (await loadFunction(row))(runtime) })

/** Loads all functions, so that the first request meets no cold start. */
export const loadFunctions = async (
  rows: readonly FunctionRow[] = functionRows,
  load = loadWith(real),
) => {
  const functions = new Map<string, { row: FunctionRow; handler: LambdaHandler }>()
  const reload = async (): Promise<void> => {
    const loaded = await Promise.all(rows.map(async (row) => ({ row, ...(await load(row)) })))
    for (const { row, handler } of loaded) functions.set(row.name, { row, handler })
  }
  await reload()
  return {
    /** Reloads the functions, so that their caches are empty. */
    reload,
    has: (name: string) => functions.has(name),
    invoke: async (name: string, event: unknown): Promise<unknown> => {
      const loaded = functions.get(name)
      if (!loaded) throw new Error(`Function ${name} does not exist`)
      if (payloadBytes(event) > REQUEST_MAX_BYTES) throw new RequestTooLarge()
      const { row, handler } = loaded
      const timeout = Promise.withResolvers<never>()
      const timer = setTimeout(() => timeout.reject(timedOut(row)), row.timeoutSeconds * 1000)
      const startedAt = performance.now()
      try {
        const response = await Promise.race([
          actingAs(row.name, () => handler(event, contextFor(row))),
          timeout.promise,
        ])
        if (payloadBytes(response) > RESPONSE_MAX_BYTES) throw new ResponseTooLarge()
        return response
      } finally {
        clearTimeout(timer)
        const milliseconds = performance.now() - startedAt
        invocations.publish({ name: row.name, milliseconds } satisfies InvocationEvent)
      }
    },
  }
}

/** Answers the calls of functions to Lambda. */
export const answerFunctionCalls =
  (functions: FunctionHost) =>
  ({ constructor: { name }, input }: Command): Promise<unknown> | undefined =>
    name === 'InvokeCommand'
      ? invocation(functions, String(input.FunctionName), String(input.Payload))
      : undefined

const invocation = async (functions: FunctionHost, name: string, payload: string) => {
  const reply = (value: unknown) => ({ Payload: Buffer.from(JSON.stringify(value ?? null)) })
  try {
    return reply(await functions.invoke(name, JSON.parse(payload)))
  } catch (error) {
    const { name: errorType, message: errorMessage } = error as Error
    return { ...reply({ errorType, errorMessage }), FunctionError: 'Unhandled' }
  }
}
