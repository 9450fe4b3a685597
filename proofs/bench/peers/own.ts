import { invokeFunction } from '../../../commands/functions-client.ts'
import { freePort } from '../../../sandbox/localstack/dynamodb-local.ts'
import { type Peer, post, TIMEOUT_SECONDS } from './peer.ts'
import { assertReady, startProgram, until } from './programs.ts'

/** This service: the sandbox. */

/** A bank of the sandbox reports after 30 s; scaled, all events of a debit follow within a second. */
const TIME_SCALE = 30

/** Created, pending, processing and completed. */
const EVENTS = 4
/** The events that a charge itself creates. */
const TIMED = new Set(['transaction.created', 'transaction.pending'])

const tokenOf = (tenant: number): string => `sk_sandbox_peer_${tenant}`

export const startOwn = async (receivers: readonly string[]): Promise<Peer> => {
  const port = await freePort()
  const args = ['commands/sandbox.ts', '--port', String(port), '--time-scale', String(TIME_SCALE)]
  const sandbox = await startProgram({ command: process.execPath, args, port })
  const address = `http://127.0.0.1:${port}`
  await until(() => assertReady(`${address}/openapi.json`))
  const operate = async (noun: string, verb: string, options: object): Promise<void> => {
    const reply = await invokeFunction({ port }, `manage-${noun}`, { verb, options })
    const { error } = reply as { error?: string }
    if (error) throw new Error(`${noun} ${verb}: ${error}`)
  }
  for (const [index, url] of receivers.entries()) {
    const provider = `peer-${index}`
    await operate('provider', 'create', { provider, name: provider, 'fee-basis-points': '150' })
    await operate('credential', 'issue', { provider, token: tokenOf(index) })
    await operate('limit', 'set', { provider, operation: 'charge', 'per-minute': '100000' })
    await operate('webhook', 'set', { provider, url, timeout: String(TIMEOUT_SECONDS) })
  }
  return {
    processes: { 'this service': sandbox.pid },
    eventsPerRequest: EVENTS,
    timedPerRequest: TIMED.size,
    request: (tenant, key) =>
      post(`${address}/api/v1/payment-providers/debit-requests/charge`, {
        token: tokenOf(tenant),
        body: {
          phone_number: '+233241234567',
          bank_identifier: 'GCB',
          amount: '1.00',
          currency: 'GHS',
          narration: 'Payment for your order, thank you for shopping',
          partner_reference: key,
        },
      }),
    timedEvent: ({ body }) => {
      const { event, data } = JSON.parse(body)
      return TIMED.has(event) ? { key: data.transaction.partner_reference, event } : undefined
    },
    signature: 'x-svc-signature',
    stop: sandbox.stop,
  }
}
