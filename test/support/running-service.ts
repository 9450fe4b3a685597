import { setTimeout as pause } from 'node:timers/promises'
import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, afterEach, beforeAll, inject, test, vi } from 'vitest'
import { bundleFile } from '../../infra/bundles/build.ts'
import { type JobName, jobRow } from '../../infra/definitions/jobs.ts'
import { loadFunctions } from '../../sandbox/function-host.ts'
import { openGateway } from '../../sandbox/gateway.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/sandbox.ts'
import type { OperatorReply } from '../../shared/operator/verbs.ts'
import type { QueueName } from '../../shared/queues/messages.ts'
import { table, tableName } from '../../shared/store/table.ts'
import { type Exchange, holdToContract } from './contract.ts'
import { eventually } from './eventually.ts'
import { CHARGE, callbackPath, chargeBody, FAILS_AT_ONCE, SILENT } from './requests.ts'
import { sqsEvent } from './sqs-event.ts'

/** The whole service over HTTP, with its own table and queues. */

export type Reply = {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a reply is looked into, member by member
  body: any
}

/** Returns the status and the code of a refusal, as `422/1007`, or the status alone. */
export const codeOf = ({ status, body }: Reply): string =>
  body?.error ? `${status}/${body.error.code}` : String(status)

/** Returns a reply as text without its request id and time. */
export const textOf = ({ status, body }: Reply): string =>
  JSON.stringify({ status, ...body, meta: undefined })

export type RequestOptions = {
  credential?: string | undefined
  /** An object is sent as JSON, text and bytes as they are. */
  body?: unknown
  headers?: Record<string, string>
}

export type Service = ReturnType<typeof useService>

type Options = Record<string, string>

export type Charged = { reference: string; uuid: string }

// biome-ignore lint/suspicious/noExplicitAny: tests read any member of a view
export type Shown = any

/** Returns the result of an operator's verb. @throws when it was refused */
export const printed = (reply: OperatorReply): Shown => {
  if ('error' in reply) throw new Error(reply.error)
  return reply.result
}

/** Whether functions run as bundles in other processes. */
export const isBundled = process.env.BUNDLES === 'true'

/** Skips a test that changes the clock, variables or SDK of functions if these run in other processes. */
export const testInProcess = test.skipIf(isBundled)

const COMPLETED = { status: 'completed', bank_reference: 'GCB-0001', approval_method: 'ussd' }

/** Starts the service before the tests of a file and stops it after them. */
export const useService = ({
  timeScale = 1,
  approvals = false,
  data,
}: Partial<Pick<SandboxOptions, 'timeScale' | 'approvals' | 'data'>> = {}) => {
  let sandbox: Sandbox | undefined
  const lines: string[] = []
  const exchanges: Exchange[] = []
  const running = (): Sandbox => {
    if (!sandbox) throw new Error('The service is not up')
    return sandbox
  }
  beforeAll(async () => {
    sandbox = await startSandbox({
      gateway: await openGateway(0),
      timeScale,
      approvals,
      data,
      print: (line) => lines.push(line),
      onFault: (source, error) => lines.push(`${source} ${error}`),
      bundleOf: isBundled ? (name) => bundleFile(name, inject('bundlesFolder')) : undefined,
    })
  })
  afterAll(() => sandbox?.stop())
  // Checks each reply against the API description after the test: the service runs in this process.
  afterEach(() => {
    for (const exchange of exchanges.splice(0)) holdToContract(exchange)
  })
  const send = async (method: string, path: string, options: RequestOptions = {}) => {
    const { credential, body, headers } = options
    const response = await fetch(`${running().address}${path}`, {
      method,
      headers: {
        ...(credential ? { Authorization: `Bearer ${credential}` } : {}),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: raw(body) }),
      redirect: 'manual',
    })
    const { status } = response
    const reply: Reply = { status, headers: response.headers, body: await bodyOf(response) }
    exchanges.push({ method, path, sent: parsed(body), ...reply })
    return reply
  }
  const invoke = (name: string, event: unknown): Promise<unknown> =>
    running().functions.invoke(name, event)
  const operate = async (noun: string, verb: string, options: Options = {}, actor?: string) => {
    // Change records of one millisecond have no order.
    if (actor) await pause(2)
    const event = { verb, options, ...(actor && { actor }) }
    return (await invoke(`manage-${noun}`, event)) as OperatorReply
  }
  /** Runs an operator's verb. @throws when it is refused */
  const call = async (...words: Parameters<typeof operate>) => printed(await operate(...words))
  const show = (reference: string): Promise<Shown> => call('debit', 'show', { reference })
  /** Waits until a debit has a status, and returns it. */
  const until = (reference: string, expected: string): Promise<Shown> =>
    eventually(async () => {
      const debit = await show(reference)
      if (debit.status !== expected) throw new Error(`${reference} is ${debit.status}`)
      return debit
    })
  /** Waits until the refund of a debit has a status, and returns it. */
  const untilRefund = (reference: string, expected: string): Promise<Shown> =>
    eventually(async () => {
      const { refund } = await show(reference)
      if (refund?.status !== expected) throw new Error(`The refund is ${refund?.status}`)
      return refund
    })
  /** Creates a debit, by default of the provider `demo`. @throws when it is refused */
  const charge = async (fields = {}, credential = 'sk_sandbox_demo'): Promise<Charged> => {
    const { status, body } = await send('POST', CHARGE, { credential, body: chargeBody(fields) })
    if (status !== 202) throw new Error(`The charge was answered ${status}`)
    return { reference: body.data.reference, uuid: body.data.response.uuid }
  }
  /** Sends the callback of a bank: banks may send more callbacks than updates a minute. */
  const report = (uuid: string, body: unknown, credential = 'bt_sandbox_gcb') =>
    send('POST', callbackPath(uuid), { credential, body })
  /** Creates a debit and waits until it has a status. */
  const chargeUntil = async (expected: string, ...words: Parameters<typeof charge>) => {
    const charged = await charge(...words)
    await until(charged.reference, expected)
    return charged
  }
  /** Creates a debit with a status that its bank then reports as completed. @throws when it is not stored */
  const chargeReported = async (
    status: 'processing' | 'failed',
    fields: Partial<ReturnType<typeof chargeBody>> = {},
    credential?: string,
  ) => {
    const phone_number = status === 'failed' ? FAILS_AT_ONCE : SILENT
    const charged = await chargeUntil(status, { phone_number, ...fields }, credential)
    const { bank_identifier = 'GCB' } = fields
    const reply = await report(
      charged.uuid,
      COMPLETED,
      `bt_sandbox_${bank_identifier.toLowerCase()}`,
    )
    if (reply.status !== (status === 'failed' ? 422 : 200)) {
      throw new Error(`The report of ${charged.reference} was answered ${reply.status}`)
    }
    return charged
  }
  return {
    sandbox: running,
    lines,
    send,
    operate,
    call,
    /** Runs an operator's verb, with an approval if it needs one. */
    approved: async (noun: string, verb: string, options: Options): Promise<Shown> => {
      const result = await call(noun, verb, options, 'local:ama')
      const id = result.approval?.id
      return id ? call('approval', 'grant', { id }, 'local:kofi') : result
    },
    /** Returns the error of an operator's verb; undefined when it is not refused. */
    refusal: async (...words: Parameters<typeof operate>) => {
      const reply = await operate(...words)
      return 'error' in reply ? reply.error : undefined
    },
    invoke,
    /** Runs a job with one message, with a clock that is some seconds ahead. */
    runJob: async (name: JobName, message = {}, secondsAhead = 0, queue = queuesOf(name)[0]) => {
      // Runs in the process of the test, because another process has its own clock.
      const functions = secondsAhead > 0 && isBundled ? await loadFunctions() : running().functions
      if (secondsAhead > 0) {
        vi.useFakeTimers({ now: Date.now() + secondsAhead * 1000, toFake: ['Date'] })
      }
      try {
        return await functions.invoke(name, sqsEvent(queue, [message]))
      } finally {
        if (secondsAhead > 0) vi.useRealTimers()
      }
    },
    /** Moves the clock, unless functions run in other processes: there, a test waits as long. */
    pass: async (seconds: number) => {
      if (!isBundled) await running().control.clock.advance(seconds * 1000)
    },
    get: (path: string, credential = 'sk_sandbox_demo') => send('GET', path, { credential }),
    report,
    show,
    until,
    untilRefund,
    exceptions: async (reference: string): Promise<Shown[]> => {
      const reply = await operate('exception', 'show', { reference })
      return 'error' in reply ? [] : (reply.result as Shown[])
    },
    /** Returns every item of the table. */
    items: async (): Promise<Shown[]> =>
      (await table.send(new ScanCommand({ TableName: tableName() }))).Items ?? [],
    /** Returns the newest change record of an object. */
    changeOf: async (target: string): Promise<Shown> =>
      (await call('change', 'list')).find((change: Shown) => change.target === target),
    charge,
    chargeUntil,
    /** Creates a debit that its bank completes. */
    chargeCompleted: (...words: Parameters<typeof charge>) =>
      chargeReported('processing', ...words),
    /** Creates a debit that its bank reports as completed after it has failed. */
    chargeCompletedLate: (...words: Parameters<typeof charge>) =>
      chargeReported('failed', ...words),
  }
}

/** Returns the queues whose messages a job handles. */
export const queuesOf = (name: JobName): readonly QueueName[] => {
  const { from } = jobRow(name)
  return 'queues' in from ? from.queues : []
}

/** Returns a file as text and every other body as JSON. */
const bodyOf = async (response: Response): Promise<unknown> =>
  response.headers.get('content-type')?.startsWith('text/')
    ? response.text()
    : response.json().catch(() => undefined)

const parsed = (body: unknown): unknown => {
  try {
    return JSON.parse(Buffer.from(raw(body)).toString('utf8'))
  } catch {
    return undefined
  }
}

const raw = (body: unknown): string | Uint8Array<ArrayBuffer> =>
  typeof body === 'string' || body instanceof Uint8Array
    ? (body as string | Uint8Array<ArrayBuffer>)
    : JSON.stringify(body)
