import type { OperatorReply } from '../../shared/operator/verbs.ts'
import type { Live } from './live.ts'

export type ConsoleCall = {
  noun: string
  verb: string
  options: Record<string, string>
  /** The operator to act as, in a sandbox only. */
  operator?: string | undefined
}

export type ConsoleSeeds = {
  credentials: readonly { kind: 'provider' | 'bank'; holder: string; token: string }[]
  customers: readonly { phone: string; name: string; outcome: string }[]
}

/** The service behind the console: the sandbox, or a stage on AWS. */
export type ConsoleBackend = {
  /** The name of the stage; undefined in a sandbox. */
  stage?: string
  /** The clock of the service; that of a sandbox can be frozen. */
  clock: { now: () => Date; isFrozen: () => boolean }
  /** The name that changes are recorded with. */
  operator: () => Promise<string>
  /** The nouns whose function the operator may invoke. */
  nouns: () => Promise<string[]>
  /** @throws Error in one line if the function does not exist, is denied or fails */
  operate: (call: ConsoleCall) => Promise<OperatorReply>
  /** Requests and changed items as they happen; a stage has none, and the page polls. */
  live?: Live
  /** The published tokens and customers of a sandbox. */
  seeds?: ConsoleSeeds
}
