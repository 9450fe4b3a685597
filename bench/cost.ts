import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type Counted, countCalls } from './calls.ts'
import { prices } from './prices.ts'

/**
 * What a million debits cost, from counted calls: the whole service on this machine, debits that are
 * completed, told of by four webhooks, settled and paid. `npm run bench:cost`.
 */

/** A sandbox lets a provider charge a hundred times a minute; two chunks of settlement. */
const DEBITS = 90
const TOGETHER = 16
const EVENTS_EACH = 4
const PATIENCE_MS = 180_000

// One line of each function's log is counted as well; Lambda's own three lines are some 350 bytes.
process.env.POWERTOOLS_LOG_LEVEL = 'INFO'
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

const { startSandbox } = await import('../infra/sandbox/sandbox.ts')
const receiver = await openReceiver()
const sandbox = await startSandbox({ port: 0, timeScale: 1, print: () => undefined })

const operate = async (noun: string, verb: string, options: Record<string, string>) => {
  const reply = await sandbox.functions.invoke(`manage-${noun}`, { verb, options })
  const { error } = reply as { error?: string }
  if (error) throw new Error(error)
}

const charge = async (n: number): Promise<void> => {
  const response = await fetch(
    `${sandbox.address}/api/v1/payment-providers/debit-requests/charge`,
    {
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
    },
  )
  if (response.status !== 202) throw new Error(await response.text())
}

const live = async (): Promise<void> => {
  let next = 0
  const caller = async () => {
    while (next < DEBITS) {
      next += 1
      await charge(next)
    }
  }
  await Promise.all(Array.from({ length: TOGETHER }, caller))
  await until(() => receiver.received() >= DEBITS * EVENTS_EACH, 'the webhooks')
  const dayLater = (days: number) =>
    new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  await operate('settlement', 'run', { date: dayLater(1) })
  await operate('settlement', 'run', { date: dayLater(2) })
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

const print = (counted: Counted): void => {
  const rows = billed(counted)
  const lines = rows.map(({ what, each, price }) =>
    [
      what.padEnd(42),
      each.toPrecision(4).padStart(12),
      `$ ${(each * price * 1e6).toFixed(2)}`.padStart(12),
    ].join(''),
  )
  const total = rows.reduce((sum, { each, price }) => sum + each * price * 1e6, 0)
  process.stdout.write(
    [
      `${DEBITS} debits: completed, four webhooks each, settled and paid; ${prices.of}`,
      `${''.padEnd(42)}${'a debit'.padStart(12)}${'a million'.padStart(12)}`,
      ...lines,
      `${'together'.padEnd(54)}${`$ ${total.toFixed(2)}`.padStart(12)}`,
      '',
      'Lambda invocations a debit, by function:',
      ...[...counted.byFunction]
        .sort(([, one], [, other]) => other - one)
        .map(([name, times]) => `  ${name.padEnd(40)}${(times / DEBITS).toFixed(3).padStart(12)}`),
      '',
    ].join('\n'),
  )
}

// As long as on Lambda; the sandbox remembers nothing, so that a tester's change is seen at once.
process.env.CACHE_SECONDS = '30'
try {
  await operate('webhook', 'set', { provider: 'demo', url: receiver.url })
  await operate('provider', 'update', { provider: 'demo', 'daily-limit': 'none' })
  print(await countCalls(live))
} finally {
  receiver.close()
  await sandbox.stop()
}
