import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import type { Operate } from '../../shared/operator/operate.ts'
import type { Live } from './live.ts'

/** The published tokens and customers of a sandbox. */
export type ConsoleSeeds = {
  credentials: readonly { kind: 'provider' | 'bank'; holder: string; token: string }[]
  customers: readonly { phone: string; name: string; outcome: string }[]
}

export type FormField = {
  name: string
  meaning: string
  isRequired: boolean
  type: 'text' | 'password' | 'date' | 'month' | 'file'
  placeholder: string
  choices?: string[]
  /** The value names such an object. */
  object?: 'provider' | 'bank'
  /** Values other than objects, such as `none`. */
  words?: string[]
}

/** The form of a verb; `approval` says when a second operator must approve the call. */
export type VerbForm = {
  summary: string
  effect: 'reads' | 'settings' | 'money'
  approval: string
  fields: FormField[]
}

/** The settings that the page shows. */
export type ConsoleSettings = {
  /** The name of the stage; null in a sandbox. */
  stage: string | null
  operator: string
  /** The operator command as it is typed. */
  command: string
  /** The nouns that the operator may use. */
  nouns: readonly string[]
  is_live: boolean
  outcome_minutes: number
  /** By noun and verb. */
  forms: Record<string, Record<string, VerbForm>>
  seeds: ConsoleSeeds | null
}

/** The clock of a sandbox. */
export type ClockState = { now: string; frozen: boolean; ready: boolean }

/** A scenario of a sandbox, and the result of playing it. */
export type ScenarioSummary = { name: string; description: string }
export type ScenarioResult = Record<string, unknown> & { reference: string; status: Status }

/** The span of the outcomes: the page reads it from the settings. */
export const OUTCOME_MINUTES = 15

/** The debits of the last minutes that ended alike at a bank, or of a provider. */
export type OutcomeCount = {
  name: string
  /** Null: completed. */
  code: string | null
  debits: number
  /** Seconds from the charge to the end of 95 % of them. */
  p95: number
  newest: { reference: string; at: string }
}

export type OutcomeCounts = Record<'bank' | 'provider', OutcomeCount[]>

/** An alarm that rings; its description has the event, a colon and the action. */
export type RingingAlarm = { name: string; since: string; description: string }

/** What AWS knows about a stage. Each call throws an Error in one line. */
export type StageWatch = {
  alarms: () => Promise<RingingAlarm[]>
  /** Costs a query of the log of `relay`. */
  outcomes: () => Promise<OutcomeCounts>
}

/** The service behind the console: the sandbox, or a stage on AWS. */
export type ConsoleBackend = {
  /** The name of the stage; undefined in a sandbox. */
  stage?: string
  /** The clock of the service; that of a sandbox can be frozen. */
  clock: { now: () => Date; isFrozen: () => boolean }
  /** The name that changes are recorded with, and the nouns that the operator may use. */
  caller: () => Promise<Pick<ConsoleSettings, 'operator' | 'nouns'>>
  operate: Operate
  /** Requests and changed items as they happen; a stage has none, and the page polls. */
  live?: Live
  watch?: StageWatch
  seeds?: ConsoleSeeds
}
