import { addressLimit } from '../../infra/constructs/waf.ts'
import { reservedFor } from '../../infra/definitions/functions.ts'
import { concurrencyOf, type JobName, jobRow } from '../../infra/definitions/jobs.ts'
import { feedGroupsOf, quotas, READS_PER_SHARD } from '../../infra/definitions/quotas.ts'
import { stageNamed } from '../../infra/definitions/stages.ts'
import type { OperationName } from '../../shared/api/operations.ts'
import { DAY_SECONDS } from '../../shared/domain/time.ts'
import type { Counts } from './counts.ts'

/** What each component needs at a rate of debits, next to what production and an account have. */
export type Need = {
  component: string
  has: number
  unit: string
  at: (perSecond: number) => number
}

export const rates = [1_000, 5_000, 10_000] as const

const production = stageNamed('production')

/** A throttle at the load itself would refuse each burst. */
const HEADROOM = 2
/** A charge, a bank's report and a status read. */
const REQUESTS = 3
/** Those of a provider. */
const PROVIDER_REQUESTS = 2
/** A debit that stays open has two schedules, which fire 5 and 10 minutes after the charge. */
const CREATED_SECONDS = 240
const FIRED_SECONDS = [300, 600]
/** Of one function (docs/architecture.md#sweep). */
const SWEPT_PER_SECOND = 1_000
/** Ten equal providers, and the hours from midnight to the reconciliation. */
const PROVIDERS = 10
const SETTLEMENT_HOURS = 2
const HOUR_MINUTES = 60
const MINUTE_SECONDS = 60
const MILLION = 1_000_000

const workers = (name: JobName, { secondsIn }: Counts): Need => {
  const { from } = jobRow(name)
  const queues = 'queues' in from ? from.queues.length : 1
  return {
    component: `workers of \`${name}\``,
    has: concurrencyOf(name, production) * queues,
    unit: '',
    at: (rate) => rate * secondsIn(name),
  }
}

const reserved = (name: OperationName, { secondsIn }: Counts): Need => ({
  component: `\`reserved\` of \`${name}\``,
  has: reservedFor(name, production) ?? 0,
  unit: '',
  at: (rate) => rate * secondsIn(name),
})

const needsOfRequests = (counts: Counts): Need[] => [
  {
    component: 'addresses of providers within `addressLimit`, a status read each',
    has: 1,
    unit: '',
    at: (rate) => (rate * PROVIDER_REQUESTS * MINUTE_SECONDS) / addressLimit(production),
  },
  {
    component: '`throttle`, twice the charges',
    has: production.throttle.perSecond,
    unit: '/s',
    at: (rate) => HEADROOM * rate,
  },
  {
    component: 'requests of API Gateway: charge, report, status read',
    has: quotas.gatewayRequestsPerSecond,
    unit: '/s',
    at: (rate) => REQUESTS * rate,
  },
  {
    component: 'concurrent executions',
    has: quotas.lambdaConcurrency,
    unit: '',
    at: (rate) => rate * counts.seconds,
  },
  reserved('charge', counts),
  reserved('update-debit-transaction', counts),
  workers('submit-to-bank', counts),
  workers('deliver-webhook', counts),
  workers('append-feed', counts),
]

const needsOfTable = ({ written, read }: Counts): Need[] => [
  {
    component: 'write units of the table',
    has: quotas.tableWriteUnits,
    unit: '/s',
    at: (rate) => rate * written,
  },
  {
    component: 'read units of the table',
    has: quotas.tableReadUnits,
    unit: '/s',
    at: (rate) => rate * read,
  },
  {
    component: 'providers: each has one list of new debits',
    has: 1,
    unit: '',
    at: (rate) => rate / quotas.partitionWriteUnits,
  },
  {
    component: 'messages to a group of `feeds.fifo`, of the groups that `throttle` gives',
    has: quotas.fifoCallsPerGroup,
    unit: '/s',
    at: (rate) =>
      (READS_PER_SHARD * ((rate * written) / quotas.partitionWriteUnits)) /
      feedGroupsOf({ throttle: { perSecond: HEADROOM * rate } }),
  },
]

const needsOfSchedules: Need[] = [
  {
    component: 'new schedules, if all debits stay open',
    has: quotas.createSchedulesPerSecond,
    unit: '/s',
    at: (rate) => FIRED_SECONDS.length * rate,
  },
  {
    component: 'invocations by Scheduler, if all stay open',
    has: quotas.scheduleInvocationsPerSecond,
    unit: '/s',
    at: (rate) => FIRED_SECONDS.length * rate,
  },
  {
    component: 'schedules at a time, if all stay open',
    has: quotas.schedules,
    unit: '',
    at: (rate) => rate * FIRED_SECONDS.reduce((sum, at) => sum + at - CREATED_SECONDS, 0),
  },
]

export const needsOf = (counts: Counts): Need[] => [
  ...needsOfRequests(counts),
  ...needsOfTable(counts),
  ...needsOfSchedules,
  {
    component: 'debits that one `sweep` checks (estimate)',
    has: SWEPT_PER_SECOND,
    unit: '/s',
    at: (rate) => rate,
  },
  {
    component: 'settlement of a day of ten equal providers',
    has: SETTLEMENT_HOURS,
    unit: ' h',
    at: (rate) =>
      ((rate * DAY_SECONDS) / PROVIDERS / MILLION) * (counts.settlementMinutes / HOUR_MINUTES),
  },
]

/** Rounds up to two digits: a need is never below the computed one. */
const rounded = (value: number): string => {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1)
  const digits = value < 10 && !Number.isInteger(value) ? 1 : 0
  const up = digits ? Math.ceil(value * 10) / 10 : Math.ceil(value / step) * step
  return up.toLocaleString('en')
}

/** Returns the table of docs/capacity.md#ceilings. Bold needs exceed what there is. */
export const ceilingsTable = (counts: Counts): string => {
  const rows = needsOf(counts).map(({ component, has, unit, at }) => {
    const cells = rates.map((rate) => {
      const need = `${rounded(at(rate))}${unit}`
      return at(rate) > has ? `**${need}**` : need
    })
    return [component, `${has.toLocaleString('en')}${unit}`, ...cells]
  })
  const head = ['Component', 'Has', ...rates.map((rate) => `${rate.toLocaleString('en')} debits/s`)]
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => (cells[0] === '---' ? `|${cells.join('|')}|` : `| ${cells.join(' | ')} |`))
    .join('\n')
}
