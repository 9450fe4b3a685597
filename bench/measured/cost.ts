import { setTimeout as pause } from 'node:timers/promises'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import { type CallCounts, countCalls } from '../calls.ts'
import { markdownTable } from '../figures.ts'
import { extendTimeout, mute } from '../fixture.ts'
import type { Measure } from '../part.ts'
import { openReceivers } from '../receivers.ts'

/** Below the sandbox's limit of a hundred charges per minute. */
const DEBITS = 90
const CONCURRENCY = 16
const EVENTS_PER_DEBIT = 4
const TIMEOUT_MS = 180_000
/** Shortens the sandbox bank's thirty seconds. */
const TIME_SCALE = 10
const DAY_MS = 86_400_000
/** Lambda's own three log lines per invocation. */
const PLATFORM_LOG_BYTES = 350

/** List prices of eu-west-1, November 2025, in US dollars, without a free tier. */
const PRICES = {
  apiRequest: 3.5e-6,
  wafRequest: 0.6e-6,
  invocation: 0.2e-6,
  /** Lambda on arm64. */
  gigabyteSecond: 13.3334e-6,
  /** On demand. */
  writeUnit: 0.705e-6,
  readUnit: 0.141e-6,
  /** Standard queues. */
  queueRequest: 0.4e-6,
  schedule: 1e-6,
  loggedGigabyte: 0.57,
} as const

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

const charge = async ({ address }: Sandbox, index: number): Promise<void> => {
  const response = await fetch(`${address}/api/v1/payment-providers/debit-requests/charge`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk_sandbox_demo', 'content-type': 'application/json' },
    body: JSON.stringify({
      phone_number: '+233241234567',
      bank_identifier: 'GCB',
      amount: '10.00',
      currency: 'GHS',
      narration: 'Payment for your order, thank you for shopping',
      partner_reference: `order-2026-11-21-${index}`,
    }),
  })
  if (response.status !== 202) throw new Error(await response.text())
}

/**
 * Advances the clock by six minutes. Settlement writes one more index entry for debits completed within
 * five minutes: in production almost none, here all.
 */
const advanceClock = async (): Promise<void> => {
  const { real } = await import('../../shared/runtime.ts')
  Object.assign(real, { now: () => new Date(Date.now() + 360_000) })
}

/** Charges, delivers and settles all debits. */
const runDebits = async (sandbox: Sandbox, countReceived: () => Promise<number>): Promise<void> => {
  let next = 0
  const caller = async () => {
    while (next < DEBITS) {
      next += 1
      await charge(sandbox, next)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, caller))
  const deadline = Date.now() + TIMEOUT_MS
  for (let received = 0; received < DEBITS * EVENTS_PER_DEBIT; ) {
    if (Date.now() > deadline) throw new Error(`Received ${received} events in time`)
    await pause(100)
    received += await countReceived()
  }
  await advanceClock()
  for (const days of [1, 2]) {
    const date = new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)
    await operate(sandbox, 'settlement', 'run', { date })
  }
}

/** A timeout that fires after the run: Scheduler sends; Lambda receives, reads and deletes. */
const FIRED = { sqs: 3, invoked: 1, read: 1 }

/** Returns the billed quantities of one debit. */
const quantitiesOf = ({ written, milliseconds, schedules, logged, ...counts }: CallCounts) => {
  const invocations = (counts.invoked + FIRED.invoked * schedules) / DEBITS
  return {
    // The charge, and the report of a bank with its own endpoint.
    apiRequest: 2,
    wafRequest: 2,
    invocation: invocations,
    gigabyteSecond: milliseconds / 1_000 / DEBITS,
    writeUnit: written / DEBITS,
    readUnit: (counts.read + FIRED.read * schedules) / DEBITS,
    queueRequest: (counts.sqs + FIRED.sqs * schedules) / DEBITS,
    schedule: schedules / DEBITS,
    loggedGigabyte: (logged / DEBITS + invocations * PLATFORM_LOG_BYTES) / 1e9,
  } satisfies Record<keyof typeof PRICES, number>
}

const LABELS: Record<keyof typeof PRICES, string> = {
  apiRequest: 'API Gateway requests',
  wafRequest: 'WAF requests',
  invocation: 'Lambda invocations',
  gigabyteSecond: 'Lambda GB-seconds (1 GB, measured here)',
  writeUnit: 'DynamoDB write units',
  readUnit: 'DynamoDB read units',
  queueRequest: 'SQS requests',
  schedule: 'Scheduler invocations',
  loggedGigabyte: 'CloudWatch Logs, GB',
}

const measuredOf = (counts: CallCounts) => {
  const quantities = quantitiesOf(counts)
  const rows = (Object.keys(LABELS) as (keyof typeof PRICES)[]).map((item) => ({
    label: LABELS[item],
    quantity: quantities[item],
    dollars: quantities[item] * PRICES[item] * 1e6,
  }))
  const total = rows.reduce((sum, { dollars }) => sum + dollars, 0)
  const cells = rows.map(({ label, quantity, dollars }) => [
    label,
    quantity.toPrecision(3),
    `$ ${dollars.toFixed(2)}`,
  ])
  const byFunction = [...counts.byFunction]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `\`${name}\` ${(count / DEBITS).toFixed(2)}`)
  return {
    figures: [
      {
        name: 'write units, including indexes',
        unit: 'units' as const,
        ours: quantities.writeUnit,
        target: { atMost: 32 },
      },
      { name: 'read units', unit: 'units' as const, ours: quantities.readUnit },
      { name: 'SQS requests', ours: quantities.queueRequest },
      { name: 'Lambda invocations', ours: quantities.invocation },
      { name: 'a million debits, list prices', unit: '$' as const, ours: total },
    ],
    notes: [
      '',
      ...markdownTable(
        ['', 'per debit', 'per million'],
        [...cells, ['total', '', `$ ${total.toFixed(2)}`]],
      ),
      '',
      `Lambda invocations per debit: ${byFunction.join(', ')}.`,
    ],
  }
}

export const measure: Measure = async () => {
  // Includes one log line per function.
  Object.assign(process.env, { POWERTOOLS_LOG_LEVEL: 'INFO' })
  mute()
  await extendTimeout()
  const { startSandbox } = await import('../../sandbox/sandbox.ts')
  const receivers = await openReceivers({ count: 1, latency: 0 })
  const sandbox = await startSandbox({ port: 0, timeScale: TIME_SCALE, print: () => undefined })
  try {
    // As on Lambda; the sandbox does not cache.
    process.env.CACHE_SECONDS = '30'
    const url = receivers.urls[0] ?? ''
    await operate(sandbox, 'webhook', 'set', { provider: 'demo', url })
    const countReceived = async () => (await receivers.received()).size
    const counts = await countCalls(() => runDebits(sandbox, countReceived))
    return {
      title: 'Cost of a debit',
      explanation: 'Counted calls of debits that complete, send four webhooks and are paid.',
      ...measuredOf(counts),
    }
  } finally {
    await receivers.stop()
    await sandbox.stop()
  }
}
