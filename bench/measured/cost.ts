import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import { type Counted, countCalls } from '../calls.ts'
import { mute } from '../ground.ts'
import type { Measure } from '../part.ts'
import { prices } from '../prices.ts'

/**
 * What a million debits cost, from counted calls: the whole service on this machine, debits that are
 * completed, told of by four webhooks, settled and paid.
 */

/** A sandbox lets a provider charge a hundred times a minute; two chunks of settlement. */
const DEBITS = 90
const TOGETHER = 16
const EVENTS_EACH = 4
const PATIENCE_MS = 180_000
/** The sandbox's bank takes thirty seconds, which nobody has to wait. */
const TIME_SCALE = 10

const SIX_MINUTES_MS = 360_000

/** Lambda's own three lines of log for each invocation. */
const PLATFORM_BYTES = 350

const openReceiver = async () => {
  let received = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      received += 1
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, received: () => received, close: () => server.close() }
}

const until = async (isSo: () => boolean, what: string): Promise<void> => {
  const end = Date.now() + PATIENCE_MS
  while (!isSo()) {
    if (Date.now() > end) throw new Error(`Waited in vain for ${what}`)
    await pause(100)
  }
}

const operate = async (
  { functions }: Sandbox,
  noun: string,
  verb: string,
  options: Record<string, string>,
): Promise<void> => {
  const reply = await functions.invoke(`manage-${noun}`, { verb, options })
  const { error } = reply as { error?: string }
  if (error) throw new Error(error)
}

const charge = async ({ address }: Sandbox, n: number): Promise<void> => {
  const response = await fetch(`${address}/api/v1/payment-providers/debit-requests/charge`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk_sandbox_demo', 'content-type': 'application/json' },
    body: JSON.stringify({
      phone_number: '+233241234567',
      bank_identifier: 'GCB',
      amount: '10.00',
      currency: 'GHS',
      narration: 'Payment for your order, thank you for shopping',
      partner_reference: `order-2026-11-21-${n}`,
    }),
  })
  if (response.status !== 202) throw new Error(await response.text())
}

/**
 * Puts the clock on. Of what was completed within the last five minutes settlement writes one index
 * entry more, for the sweep; in the night that is next to nothing, here it would be everything.
 */
const advanceClock = async (): Promise<void> => {
  const { real } = await import('../../shared/runtime.ts')
  Object.assign(real, { now: () => new Date(Date.now() + SIX_MINUTES_MS) })
}

const live = async (sandbox: Sandbox, received: () => number): Promise<void> => {
  let next = 0
  const caller = async () => {
    while (next < DEBITS) {
      next += 1
      await charge(sandbox, next)
    }
  }
  await Promise.all(Array.from({ length: TOGETHER }, caller))
  await until(() => received() >= DEBITS * EVENTS_EACH, 'the webhooks')
  await advanceClock()
  const dayLater = (days: number) =>
    new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  await operate(sandbox, 'settlement', 'run', { date: dayLater(1) })
  await operate(sandbox, 'settlement', 'run', { date: dayLater(2) })
}

/** A clock that fires when this is over: Scheduler sends, Lambda receives, reads and deletes. */
const FIRED = { sqs: 3, invoked: 1, read: 1 }

/** Of one debit, as it is billed: a row for each price. */
const billed = ({ written, milliseconds, schedules, logged, ...counted }: Counted) => {
  const invocations = (counted.invoked + FIRED.invoked * schedules) / DEBITS
  const read = counted.read + FIRED.read * schedules
  const sqs = counted.sqs + FIRED.sqs * schedules
  return [
    // The charge, and the bank's report where a bank has an endpoint of its own.
    { what: 'API Gateway requests', each: 2, price: prices.apiRequest },
    { what: 'WAF requests', each: 2, price: prices.firewallRequest },
    { what: 'Lambda invocations', each: invocations, price: prices.invocation },
    {
      what: 'Lambda GB-seconds (1 GB, measured here)',
      each: milliseconds / 1_000 / DEBITS,
      price: prices.gigabyteSecond,
    },
    { what: 'DynamoDB write units', each: written / DEBITS, price: prices.writeUnit },
    { what: 'DynamoDB read units', each: read / DEBITS, price: prices.readUnit },
    // What functions send, and a receive and a delete for each batch that Lambda takes for them.
    { what: 'SQS requests', each: sqs / DEBITS, price: prices.queueRequest },
    { what: 'Scheduler invocations', each: schedules / DEBITS, price: prices.schedule },
    {
      what: 'CloudWatch Logs, GB',
      each: (logged / DEBITS + invocations * PLATFORM_BYTES) / 1e9,
      price: prices.loggedGigabyte,
    },
  ]
}

const billLines = (
  rows: ReturnType<typeof billed>,
  byFunction: Counted['byFunction'],
): string[] => [
  '',
  `A million such debits at ${prices.of}:`,
  '',
  '| | a debit | a million |',
  '|---|--:|--:|',
  ...rows.map(
    ({ what, each, price }) =>
      `| ${what} | ${each.toPrecision(3)} | $ ${(each * price * 1e6).toFixed(2)} |`,
  ),
  `| together | | $ ${totalOf(rows).toFixed(2)} |`,
  '',
  `Lambda invocations of a debit: ${[...byFunction]
    .sort(([, one], [, other]) => other - one)
    .map(([name, times]) => `\`${name}\` ${(times / DEBITS).toFixed(2)}`)
    .join(', ')}.`,
  '',
  'Calls are counted as DynamoDB Local says, but for transactions, which it counts otherwise than AWS: there each item is rounded up by itself and counted twice, and each entry of an index that is put or deleted is a unit, once. Events that come together are one write to the feed; a debit all by itself takes three.',
]

const totalOf = (rows: ReturnType<typeof billed>): number =>
  rows.reduce((sum, { each, price }) => sum + each * price * 1e6, 0)

const figuresOf = (counted: Counted) => {
  const rows = billed(counted)
  const eachOf = (what: string): number => rows.find((row) => row.what === what)?.each ?? Number.NaN
  return {
    'cost written': { own: eachOf('DynamoDB write units') },
    'cost read': { own: eachOf('DynamoDB read units') },
    'cost sqs': { own: eachOf('SQS requests') },
    'cost invocations': { own: eachOf('Lambda invocations') },
    'cost million': { own: totalOf(rows) },
  }
}

export const measure: Measure = async () => {
  // One line of each function's log is counted as well.
  Object.assign(process.env, { POWERTOOLS_LOG_LEVEL: 'INFO' })
  mute()
  const { startSandbox } = await import('../../sandbox/sandbox.ts')
  const receiver = await openReceiver()
  const sandbox = await startSandbox({ port: 0, timeScale: TIME_SCALE, print: () => undefined })
  try {
    // As long as on Lambda; the sandbox remembers nothing, so that a tester's change is seen at once.
    process.env.CACHE_SECONDS = '30'
    await operate(sandbox, 'webhook', 'set', { provider: 'demo', url: receiver.url })
    const counted = await countCalls(() => live(sandbox, receiver.received))
    return {
      figures: figuresOf(counted),
      notes: billLines(billed(counted), counted.byFunction),
    }
  } finally {
    receiver.close()
    await sandbox.stop()
  }
}
