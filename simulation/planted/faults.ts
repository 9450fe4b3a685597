import type { Fault } from './fault.ts'
import { idempotency } from './faults/idempotency.ts'
import { money } from './faults/money.ts'
import { order } from './faults/order.ts'
import { retry } from './faults/retry.ts'
import { settlement } from './faults/settlement.ts'
import { signing } from './faults/signing.ts'
import { tenancy } from './faults/tenancy.ts'
import { timers } from './faults/timers.ts'

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
