import '../../simulation/platform/register.ts'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { newSteppedClock, type SteppedClock } from '../../../sandbox/aws/clock.ts'
import type { Table } from '../../../sandbox/aws/table/table.ts'
import { bytesOf } from '../../../sandbox/aws/table/units.ts'
import type { RunName, Usages } from './measured-functions.ts'
import { newBank, newReceiver } from './peers.ts'
import { nextPeriod, startSchedules } from './schedules.ts'
import type { UsageByFunction } from './usage.ts'

/**
 * Runs the deployed functions under a steady load, against an in-memory AWS, on a stepped clock, and
 * counts what each function consumes. Loaded in a process of its own: it replaces network modules.
 */

process.env = { ...process.env }
await import('../../simulation/aws/environment.ts')
Object.assign(process.env, {
  CACHE_SECONDS: '30',
  AWS_LAMBDA_LOG_LEVEL: 'INFO',
  METRICS_DISABLED: 'false',
})
const { enter } = await import('../../simulation/engine/current.ts')
const { newEffects } = await import('../../simulation/engine/effects.ts')
const { newFaults } = await import('../../simulation/engine/faults.ts')
const { newNetwork } = await import('../../simulation/engine/network.ts')
const { randomOf } = await import('../../simulation/engine/random.ts')
const { runtimeOf, timeoutsOf } = await import('../../simulation/engine/runtime.ts')
const { newTrace } = await import('../../simulation/engine/trace.ts')
const { newApi } = await import('../../simulation/peers/api.ts')
const { measuredAws, measuredRun, newUsages } = await import('./measured-functions.ts')
const { BANK, hostOf, PHONE, providerId, writeFixtures } = await import('./fixtures.ts')

export type Load = {
  providers: number
  /** Charges per second of each provider. */
  perSecond: number
  seconds: number
}

export type LoadResult = {
  debits: number
  byFunction: UsageByFunction
  /** Timeouts that fired; each is also a request of Scheduler to SQS. */
  schedulerInvocations: number
  stored: ReturnType<typeof storedIn>
}

/** Returns the stored items by entity, without DynamoDB's hundred bytes per item. */
const storedIn = ({ items }: Pick<Table, 'items'>) => {
  const stored = new Map<string, { count: number; bytes: number }>()
  for (const item of items()) {
    const entity = String(item.entity ?? item.sk)
    const { count, bytes } = stored.get(entity) ?? { count: 0, bytes: 0 }
    stored.set(entity, { count: count + 1, bytes: bytes + bytesOf(item) })
  }
  return stored
}

/** The time from the acceptance of a submission to the bank's report. */
const OUTCOME_MS = 30_000

/** Charges, completes, settles and pays out debits. Every webhook is delivered at once. */
export const runLoad = async (load: Load): Promise<LoadResult> => {
  const { midnight, chargesAt, end } = nextPeriod()
  const clock = newSteppedClock(chargesAt)
  const usages = newUsages()
  const run = measuredRun(clock, usages)
  const { aws, countSchedulerInvocations } = measuredAws(clock, usages, run)
  const callers = newCallers(clock, usages, run)
  const stopLogs = countLogs((bytes) => {
    const usage = usages.ofCurrent()
    if (usage) usage.logged += bytes
  })
  try {
    await writeFixtures(new Date(clock.now()), load.providers)
    const debits = startCharges(load, chargesAt, { clock, charge: callers.charge })
    startSchedules(clock, aws.queues.put, midnight)
    await idle()
    while (clock.step(end)) await idle()
    const answered = callers.countAnswered()
    if (answered !== 2 * debits)
      throw new Error(`${answered} of ${2 * debits} requests were answered`)
    return {
      debits,
      byFunction: usages.byFunction,
      schedulerInvocations: countSchedulerInvocations(),
      stored: storedIn(aws.table),
    }
  } finally {
    stopLogs()
  }
}

/** Connects the API's callers, a bank that completes each debit, and a receiver. */
const newCallers = (
  clock: SteppedClock,
  { usageOf }: Usages,
  run: ReturnType<typeof measuredRun>,
) => {
  const random = randomOf(1)
  const faults = newFaults(random, { faults: new Set(), intensity: 0 })
  const effects = newEffects({ clock, random, faults, trace: newTrace(clock), crashes: [] })
  const network = newNetwork({ clock, random, effects, peerAt: (host) => peerAt(host) })
  enter({
    runtime: runtimeOf(clock, random),
    network,
    timeout: timeoutsOf(clock, network.isAwaited),
  })
  const replied = async (name: RunName, event: unknown, onStart?: (invocation: number) => void) => {
    const result = await run(name, event, onStart)
    if (result.kind === 'done') {
      const { body = '', headers } = result.value as APIGatewayProxyResult
      usageOf(name).sent += body.length + JSON.stringify(headers ?? {}).length
    }
    return result
  }
  const api = newApi({ clock, random, faults, run: replied, calls: [], isPaused: () => false })
  let answered = 0
  const ask = async (request: Parameters<typeof api.ask>[0]): Promise<void> => {
    const call = await api.ask({ ...request, triesMax: 1 })
    const status = call?.reply?.status
    if (status !== 202 && status !== 200) throw new Error(`${request.name} was answered ${status}`)
    answered += 1
  }
  const report = (uuid: string) =>
    ask({
      name: 'update-debit-transaction',
      caller: { kind: 'bank', id: BANK },
      path: { uuid },
      body: {
        status: 'completed',
        bank_reference: `B-${uuid.slice(0, 8)}`,
        approval_method: 'ussd',
      },
    })
  const bank = newBank((uuid) => clock.after(OUTCOME_MS, () => report(uuid)))
  const receiver = newReceiver((bytes) => {
    usageOf('deliver-webhook').sent += bytes
  })
  const peerAt = (host: string) => (host === hostOf(BANK) ? bank : receiver)
  return {
    charge: (provider: string, body: object) =>
      ask({ name: 'charge', caller: { kind: 'provider', id: provider }, body }),
    countAnswered: () => answered,
  }
}

type Charges = { clock: SteppedClock; charge: ReturnType<typeof newCallers>['charge'] }

/** Schedules the charges at equal intervals. @returns their number */
const startCharges = (
  { providers, perSecond, seconds }: Load,
  from: number,
  { clock, charge }: Charges,
): number => {
  const debits = Math.round(providers * perSecond * seconds)
  for (let index = 0; index < debits; index += 1) {
    clock.at(from + (index * 1000) / (providers * perSecond), () =>
      charge(providerId(index % providers), {
        phone_number: PHONE,
        bank_identifier: BANK,
        amount: '1.00',
        currency: 'GHS',
        narration: 'Payment for your order, thank you for shopping',
        partner_reference: `order-2026-01-10-${String(index).padStart(6, '0')}`,
      }),
    )
  }
  return debits
}

/** Lets all pending promises and streams settle. */
const idle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Counts the bytes of log lines and discards them. @returns a function that stops */
const countLogs = (count: (bytes: number) => void): (() => void) => {
  const { write } = process.stdout
  process.stdout.write = (text: string | Uint8Array) => {
    count(Buffer.byteLength(text))
    return true
  }
  return () => {
    process.stdout.write = write
  }
}
