import { idempotency } from './catalogue/idempotency.ts'
import { money } from './catalogue/money.ts'
import { order } from './catalogue/order.ts'
import { retry } from './catalogue/retry.ts'
import { settlement } from './catalogue/settlement.ts'
import { signing } from './catalogue/signing.ts'
import { tenancy } from './catalogue/tenancy.ts'
import { timers } from './catalogue/timers.ts'
import type { Fault } from './mutant.ts'

/**
 * Faults to be planted in a copy of the product: whoever checks the simulated world must find
 * them. Each is one mistake in one place, compiles, and breaks what the service promises.
 */
export const faults: readonly Fault[] = [
  ...money,
  ...settlement,
  ...order,
  ...tenancy,
  ...idempotency,
  ...retry,
  ...signing,
  ...timers,
]
