import type * as v from 'valibot'
import type { StatementReport } from '../domain/banks/statement.ts'
import type { MovementKind } from '../domain/banks/statement-row.ts'
import type { ApprovalResult } from '../views/operator/approval.ts'
import type { OperatorResults } from '../views/operator/results.ts'
import type { Nouns } from './catalogue.ts'

/** The options and the results of verbs, by noun and verb. */

export type NounName = keyof Nouns
export type VerbName<N extends NounName> = keyof Nouns[N]['verbs'] & string
type VerbRow<N extends NounName, V extends VerbName<N>> = Nouns[N]['verbs'][V]

/** `never` for values that JSON changes. */
type Printed<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends bigint | Date | Set<unknown> | Map<unknown, unknown>
    ? never
    : T extends object
      ? { [K in keyof T]: Printed<T[K]> }
      : T

type EveryVerb = { [N in NounName]: { [V in VerbName<N>]: unknown } }
type Checked<T extends Rule, Rule> = T

/** Does not compile if a verb has no result, or one that JSON changes. */
type Results = Checked<OperatorResults, EveryVerb & Printed<OperatorResults>>

type VerbIn<T, N, V> = N extends keyof T ? (V extends keyof T[N] ? T[N][V] : never) : never

/** The result that the function of a noun returns. */
export type ResultOf<N, V> = VerbIn<Results, N, V>

/** The result that a caller reads: in a stage with approvals, the request of a guarded call. */
export type OperatorResult<N extends NounName, V extends VerbName<N>, Options = object> =
  | VerbIn<OperatorResults<Options>, N, V>
  | (VerbRow<N, V> extends { approval: unknown } ? { approval: ApprovalResult } : never)

/** Results that differ from those of the function: the caller makes all calls of a check. */
export type LongResults = {
  run: Exclude<ResultOf<'reconciliation', 'run'>, { run: string }>
  statement: StatementReport & { ignored: number; covers: readonly MovementKind[] }
}

/** The result of a verb after all its calls. */
export type FullResult<
  N extends NounName,
  V extends VerbName<N>,
  Options = object,
> = N extends 'reconciliation' ? LongResults[V & keyof LongResults] : OperatorResult<N, V, Options>

type Input<N extends NounName, V extends VerbName<N>> =
  VerbRow<N, V> extends { options: infer S extends v.GenericSchema } ? v.InferInput<S> : never

/** The options of a call, as texts. */
export type OptionsOf<N extends NounName, V extends VerbName<N>> = {
  [K in keyof Input<N, V>]: string
}

/** Options that are exactly those of the verb. */
export type Exactly<O, N extends NounName, V extends VerbName<N>> = O &
  Record<Exclude<keyof O, keyof OptionsOf<N, V>>, never>

/** Calls a verb, and grants the request of a call that needs an approval. */
export type CallGranted = <
  N extends NounName,
  V extends VerbName<N>,
  const O extends OptionsOf<N, V>,
>(
  noun: N,
  verb: V,
  options: Exactly<O, N, V>,
) => Promise<VerbIn<OperatorResults<O>, N, V>>

/** Calls a verb. @throws Error with the reason of a refusal */
export type CallVerb = <N extends NounName, V extends VerbName<N>, const O extends OptionsOf<N, V>>(
  noun: N,
  verb: V,
  options: Exactly<O, N, V>,
) => Promise<OperatorResult<N, V, O>>
