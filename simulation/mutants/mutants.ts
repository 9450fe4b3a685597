import { idempotency } from './catalogue/idempotency.ts'
import { money } from './catalogue/money.ts'
import { order } from './catalogue/order.ts'
import { retry } from './catalogue/retry.ts'
import { settlement } from './catalogue/settlement.ts'
import { signing } from './catalogue/signing.ts'
import { tenancy } from './catalogue/tenancy.ts'
import { timers } from './catalogue/timers.ts'
import type { Mutant } from './mutant.ts'

/** Mutants that the simulator must catch: each compiles and breaks one published rule. */
export const mutants: readonly Mutant[] = [
  ...money,
  ...settlement,
  ...order,
  ...tenancy,
  ...idempotency,
  ...retry,
  ...signing,
  ...timers,
]
