import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, inject } from 'vitest'
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts'
import type { OperatorReply } from '../../shared/operator/verbs.ts'
import { type Exchange, holdToContract } from './contract.ts'

/** The whole service as a caller meets it: over HTTP, on a table and queues of its own. */

export type Reply = {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a reply is looked into, member by member
  body: any
}

export type RequestOptions = {
  credential?: string | undefined
  /** An object is sent as JSON, text and bytes as they are. */
  body?: unknown
  headers?: Record<string, string>
}

export type Service = {
  sandbox: () => Sandbox
  lines: string[]
  send: (method: string, path: string, options?: RequestOptions) => Promise<Reply>
  operate: (noun: string, verb: string, options: Record<string, string>) => Promise<OperatorReply>
  invoke: (name: string, event: unknown) => Promise<unknown>
}

/** Starts it before the tests of a file and stops it after. */
export const useService = ({
  timeScale = 1,
  approvals = false,
}: {
  timeScale?: number
  approvals?: boolean
} = {}): Service => {
  let sandbox: Sandbox | undefined
  const lines: string[] = []
  const exchanges: Exchange[] = []
  const running = (): Sandbox => {
    if (!sandbox) throw new Error('The service is not up')
    return sandbox
  }
  beforeAll(async () => {
    sandbox = await startSandbox({
      port: 0,
      timeScale,
      approvals,
      print: (line) => lines.push(line),
      dynamoDbEndpoint: inject('dynamoDbEndpoint'),
      tableName: `test-${randomUUID()}`,
    })
  })
  afterAll(() => sandbox?.stop())
  // Every reply that any test sees is held against the API's description: afterwards, since the
  // service runs in this process and its work must not wait for that.
  afterEach(() => {
    for (const exchange of exchanges.splice(0)) holdToContract(exchange)
  })
  return {
    sandbox: running,
    lines,
    send: async (method, path, { credential, body, headers = {} } = {}) => {
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
      const reply = {
        status: response.status,
        headers: response.headers,
        body: await bodyOf(response),
      }
      exchanges.push({ method, path, sent: parsed(body), ...reply })
      return reply
    },
    operate: async (noun, verb, options) =>
      (await running().functions.invoke(`manage-${noun}`, { verb, options })) as OperatorReply,
    invoke: (name, event) => running().functions.invoke(name, event),
  }
}

/** A file as its text, all else as JSON. */
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

export const CHARGE = '/api/v1/payment-providers/debit-requests/charge'
export const statusPath = (reference: string) =>
  `/api/v1/payment-providers/debit-requests/${reference}`
export const updatePath = (uuid: string) => `/api/v1/banks/debit-transactions/${uuid}/update`

/** The body of an ordinary charge, with a partner reference of its own. */
export const chargeBody = (fields: Record<string, unknown> = {}) => ({
  phone_number: '+233241234567',
  bank_identifier: 'GCB',
  amount: '100.00',
  currency: 'GHS',
  narration: 'Order 1',
  partner_reference: `order-${randomUUID()}`,
  ...fields,
})

/** A sample event of a function, as it lies in events/. */
export const sampleEvent = async (name: string): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(new URL(`../../events/${name}.json`, import.meta.url), 'utf8'))
