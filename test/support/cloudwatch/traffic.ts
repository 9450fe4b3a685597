import { operations } from '../../../shared/api/operations.ts'
import { debitEventTypes } from '../../../shared/domain/debits/lifecycle.ts'
import {
  type Figures,
  METRICS_NAMESPACE,
  metricMembers,
  metricsService,
} from '../../../shared/metrics.ts'
import { type Metric, Samples } from './samples.ts'

/** A model of a stage's traffic, and the metrics that it leaves. */

export const STAGE = 'debit-collection-production'

/** How a bank fails: no reply, no submission, no report, or a rejection of each debit. */
type BankFault = 'unreachable' | 'unsubmitted' | 'silent' | 'rejects'

/** A metric of AWS, with its value of a minute; `since`: minutes from the start of the fault. */
export type AwsMetric = Metric & { value: (since: number) => number | undefined }

export type Fault = {
  banks?: Record<string, BankFault>
  /** The share of first webhook attempts that fail. */
  webhooks?: number
  /** The shares of charges that are refused to known providers, or get a 5xx reply. */
  refused?: number
  broken?: number
  /** Milliseconds of a charge. */
  slow?: number
  /** Neither relay nor sweep works. */
  isStopped?: true
  /** Metrics of the service that the fault adds each minute. */
  figures?: (since: number) => Figures
  aws?: AwsMetric[]
}

type Traffic = {
  /** Charges a minute. */
  rate: number
  /** Share of each bank in the charges. */
  banks: Record<string, number>
  fault: Fault
  /** The minutes of the fault. */
  begins: number
  ends: number
  random: Random
}

/** Returns how many of `n` things happen that each have a probability. */
export type Random = (key: string, n: number, probability: number) => number

/** Rounds shares so that their sum over time is exact. */
export const even = (): Random => {
  const rests = new Map<string, number>()
  return (key, n, probability) => {
    const exact = (rests.get(key) ?? 0) + n * probability
    const count = Math.floor(exact + 1e-9)
    rests.set(key, exact - count)
    return count
  }
}

type Emitted = { name: string; dimensions: string[] }
const emittedByNames = new Map<string, Emitted[]>()

/** Returns the names and dimensions in the line that the code writes for figures. */
const emitted = (figures: Figures): Emitted[] => {
  const names = String(Object.keys(figures))
  const known = emittedByNames.get(names)
  if (known) return known
  const { _aws } = (metricMembers(figures) ?? { _aws: { CloudWatchMetrics: [] } }) as {
    _aws: { CloudWatchMetrics: { Dimensions: string[][]; Metrics: { Name: string }[] }[] }
  }
  const found = _aws.CloudWatchMetrics.flatMap(({ Dimensions, Metrics }) =>
    Dimensions.flatMap((dimensions) => Metrics.map(({ Name: name }) => ({ name, dimensions }))),
  )
  emittedByNames.set(names, found)
  return found
}

const MINUTES_OF_DAY = 1_440
/** 02:00 UTC. */
const NIGHTLY = 120
/** Usual shares: completed debits, refused charges, failed first attempts, slow charges. */
const USUAL = { completed: 0.8, refused: 0.02, webhooks: 0.02, slow: 0.005 }
/** Minutes after which a debit ends without the bank: from its creation, or from its acceptance. */
const TIMEOUT = { unreachable: 10, unsubmitted: 10, silent: 5, rejects: 0 }

const gateway = { ApiName: STAGE, Stage: 'production' }
const vault = { BackupVaultName: STAGE }
const charge = { ...gateway, Resource: operations.charge.path, Method: operations.charge.method }

class TrafficModel {
  readonly samples = new Samples()
  readonly #traffic: Traffic
  /** Debits that end later, by minute, bank and status. */
  readonly #endings = new Map<number, [string, 'completed' | 'failed', number][]>()

  constructor(traffic: Traffic) {
    this.#traffic = traffic
  }

  /** Emits the metrics of a minute. */
  run(minute: number): void {
    const { fault, begins, ends } = this.#traffic
    const current = minute >= begins && minute < ends ? fault : {}
    this.#background(minute, current)
    const accepted = this.#charges(minute, current)
    for (const [bank, count] of accepted) this.#submit(minute, { bank, count, current })
    this.#end(minute, current)
    if (current !== fault) return
    this.#figures(minute, current.figures?.(minute - begins) ?? {})
    for (const metric of current.aws ?? []) {
      const value = metric.value(minute - begins)
      if (value !== undefined) this.samples.add(metric, minute, value)
    }
  }

  /** Adds figures as a function emits them: names and dimensions come from the code. */
  #figures(minute: number, figures: Figures, { bank = '', count = 1 } = {}): void {
    if (count === 0) return
    const values: Record<string, string> = { service: metricsService('production'), bank }
    for (const { name, dimensions: names } of emitted(figures)) {
      const dimensions = Object.fromEntries(names.map((one) => [one, values[one] ?? '']))
      const metric = { namespace: METRICS_NAMESPACE, name, dimensions }
      this.samples.add(metric, minute, figures[name as keyof Figures] ?? 0, count)
    }
  }

  #api(name: string, dimensions: Record<string, string>, minute: number, counts: number[]): void {
    for (const [value, count] of counts.entries())
      this.samples.add({ namespace: 'AWS/ApiGateway', name, dimensions }, minute, value, count)
  }

  #background(minute: number, { isStopped }: Fault): void {
    const relay = { FunctionName: `${STAGE}-relay` }
    if (!isStopped) {
      this.#figures(minute, { SweepRuns: 1, SweepLagSeconds: 150 })
      this.samples.add(
        { namespace: 'AWS/Lambda', name: 'IteratorAge', dimensions: relay },
        minute,
        400,
      )
    }
    if (minute % MINUTES_OF_DAY === NIGHTLY) this.night(minute)
  }

  night(minute: number): void {
    this.#figures(minute, { SettlementUnfinished: 0, OpenExceptions: 0, OverduePayouts: 0 })
    this.#figures(minute, { ReconciliationDifferences: 0, DaysSealed: 1 })
    const name = 'NumberOfBackupJobsCompleted'
    this.samples.add({ namespace: 'AWS/Backup', name, dimensions: vault }, minute, 1)
  }

  /** @returns the accepted charges of each bank */
  #charges(minute: number, fault: Fault): [string, number][] {
    const { rate, banks, random } = this.#traffic
    const byBank = Object.entries(banks).map(([bank, share]): [string, number] => [
      bank,
      random(`charges of ${bank}`, rate, share),
    ])
    const charges = byBank.reduce((sum, [, count]) => sum + count, 0)
    const broken = random('broken', charges, fault.broken ?? 0)
    const refused = random('refused', charges - broken, fault.refused ?? USUAL.refused)
    const slow = random('slow', charges, USUAL.slow)
    this.#api('Count', charge, minute, [0, charges])
    this.#api('4XXError', charge, minute, [charges - refused, refused])
    // With a status read and a bank report for each charge.
    this.#api('Count', gateway, minute, [0, 3 * charges])
    this.#api('5XXError', gateway, minute, [3 * charges - broken, broken])
    const latency = { namespace: 'AWS/ApiGateway', name: 'Latency', dimensions: charge }
    this.samples.add(latency, minute, fault.slow ?? 40, charges - slow)
    this.samples.add(latency, minute, 300, slow)
    this.#figures(minute, { ChargesRefused: 1 }, { count: refused })
    const accepted = charges - refused - broken
    this.#figures(minute, { DebitsCharged: 1 }, { count: accepted })
    return byBank.map(([bank, count]) => [
      bank,
      charges === 0 ? 0 : random(`accepted of ${bank}`, count, accepted / charges),
    ])
  }

  #submit(
    minute: number,
    { bank, count, current }: { bank: string; count: number; current: Fault },
  ): void {
    const { begins, random } = this.#traffic
    const bankFault = current.banks?.[bank]
    this.#webhooks(minute, 2 * count, current)
    // Its state changes after two minutes without a reply.
    if (bankFault === 'unreachable' && minute - begins >= 3)
      this.#figures(minute, { BankDown: 1 }, { bank })
    const completed = bankFault ? 0 : random(`completed of ${bank}`, count, USUAL.completed)
    const at = minute + 1 + (bankFault ? TIMEOUT[bankFault] : 0)
    const endings = this.#endings.get(at) ?? []
    endings.push([bank, 'completed', completed], [bank, 'failed', count - completed])
    this.#endings.set(at, endings)
  }

  #end(minute: number, current: Fault): void {
    if (current.isStopped) return
    for (const [bank, status, count] of this.#endings.get(minute) ?? []) {
      const { metrics } = debitEventTypes[status]
      const figures = { [metrics.count]: 1, FailureExcess: metrics.excess }
      this.#figures(minute, figures, { bank, count })
      this.#webhooks(minute, count, current)
    }
  }

  #webhooks(minute: number, events: number, { webhooks = USUAL.webhooks }: Fault): void {
    const failed = this.#traffic.random('webhooks', events, webhooks)
    this.#figures(minute, { WebhookFirstSeconds: 2 }, { count: events })
    this.#figures(minute, { WebhookDelivered: 1 }, { count: events - failed })
    this.#figures(minute, { WebhookFirstFailed: 1, WebhookAttemptFailed: 1 }, { count: failed })
  }
}

/** Returns the metrics of traffic between two minutes of later days, and of the last night before. */
export const samplesOf = (traffic: Traffic, span: { from: number; before: number }): Samples => {
  const model = new TrafficModel(traffic)
  const midnight = span.from - (span.from % MINUTES_OF_DAY)
  const today = midnight + NIGHTLY
  model.night(today < span.from ? today : today - MINUTES_OF_DAY)
  for (let minute = span.from; minute < span.before; minute += 1) model.run(minute)
  return model.samples
}
