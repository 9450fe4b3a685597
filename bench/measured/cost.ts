import { setTimeout as pause } from 'node:timers/promises'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import { startDynamoDbLocal } from '../../test/emulators/dynamodb-local.ts'
import { type CallCounts, countCalls } from '../calls.ts'
import { type Figure, type Measure, markdownTable } from '../figures.ts'
import { CREDENTIALS, extendTimeout, mute } from '../fixture.ts'
import { openReceiver, type Receiver } from '../receivers.ts'

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
const runDebits = async (sandbox: Sandbox, { countEvents }: Receiver): Promise<void> => {
  let next = 0
  const caller = async () => {
    while (next < DEBITS) {
      next += 1
      await charge(sandbox, next)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, caller))
  const deadline = Date.now() + TIMEOUT_MS
  while ((await countEvents()) < DEBITS * EVENTS_PER_DEBIT) {
    if (Date.now() > deadline) throw new Error('The receiver lacks events')
    await pause(100)
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
    invocations,
    gigabyteSeconds: milliseconds / 1_000 / DEBITS,
    written: written / DEBITS,
    read: (counts.read + FIRED.read * schedules) / DEBITS,
    sqs: (counts.sqs + FIRED.sqs * schedules) / DEBITS,
    schedules: schedules / DEBITS,
    loggedGigabytes: (logged / DEBITS + invocations * PLATFORM_LOG_BYTES) / 1e9,
  }
}

type Quantities = ReturnType<typeof quantitiesOf>

/** Label, quantity per debit, and list price in eu-west-1, November 2025, in US dollars. */
const billOf = (quantities: Quantities): [label: string, quantity: number, price: number][] => [
  // The charge, and the report of a bank with its own endpoint.
  ['API Gateway requests', 2, 3.5e-6],
  ['WAF requests', 2, 0.6e-6],
  ['Lambda invocations', quantities.invocations, 0.2e-6],
  ['Lambda GB-seconds (1 GB arm64, measured here)', quantities.gigabyteSeconds, 13.3334e-6],
  ['DynamoDB write units', quantities.written, 0.705e-6],
  ['DynamoDB read units', quantities.read, 0.141e-6],
  ['SQS requests', quantities.sqs, 0.4e-6],
  ['Scheduler invocations', quantities.schedules, 1e-6],
  ['CloudWatch Logs, GB', quantities.loggedGigabytes, 0.57],
]

const figuresOf = ({ written, read, sqs, invocations }: Quantities, dollars: number): Figure[] => [
  { name: 'write units, including indexes', unit: 'units', ours: written, target: { atMost: 32 } },
  { name: 'read units', unit: 'units', ours: read },
  { name: 'SQS requests', ours: sqs },
  { name: 'Lambda invocations', ours: invocations },
  { name: 'a million debits, list prices', unit: '$', ours: dollars },
]

const measuredOf = (counts: CallCounts) => {
  const quantities = quantitiesOf(counts)
  const bill = billOf(quantities)
  const total = bill.reduce((sum, [, quantity, price]) => sum + quantity * price * 1e6, 0)
  const rows = bill.map(([label, quantity, price]) => [
    label,
    quantity.toPrecision(3),
    `$ ${(quantity * price * 1e6).toFixed(2)}`,
  ])
  const byFunction = [...counts.byFunction]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `\`${name}\` ${(count / DEBITS).toFixed(2)}`)
  return {
    figures: figuresOf(quantities, total),
    notes: [
      '',
      ...markdownTable(
        ['', 'per debit', 'per million'],
        [...rows, ['total', '', `$ ${total.toFixed(2)}`]],
      ),
      '',
      `Lambda invocations per debit: ${byFunction.join(', ')}.`,
    ],
  }
}

const cost: Measure = async () => {
  // Includes one log line per function.
  Object.assign(process.env, { ...CREDENTIALS, AWS_LAMBDA_LOG_LEVEL: 'INFO' })
  mute()
  await extendTimeout()
  const { startSandbox } = await import('../../sandbox/sandbox.ts')
  const { openGateway } = await import('../../sandbox/gateway.ts')
  const local = await startDynamoDbLocal()
  const receiver = await openReceiver()
  const sandbox = await startSandbox({
    gateway: await openGateway(0),
    // Only DynamoDB Local reports consumed units.
    endpoints: { dynamoDb: local.endpoint },
    timeScale: TIME_SCALE,
    print: () => undefined,
  })
  try {
    // As on Lambda; the sandbox does not cache.
    process.env.CACHE_SECONDS = '30'
    await operate(sandbox, 'webhook', 'set', { provider: 'demo', url: receiver.url })
    const counts = await countCalls(() => runDebits(sandbox, receiver))
    return {
      title: 'Cost of a debit',
      explanation: 'Counted calls of debits that complete, send four webhooks and are paid.',
      ...measuredOf(counts),
    }
  } finally {
    await receiver.stop()
    await sandbox.stop()
    await local.stop()
  }
}

export const parts = { cost }
