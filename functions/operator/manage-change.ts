import { isDifference, verifyDays } from '../../shared/audit/verify.ts'
import { defined } from '../../shared/domain/complete.ts'
import { invalid } from '../../shared/domain/refusal.ts'
import { dayAfter } from '../../shared/domain/time.ts'
import { noSuch, operatorHandler, Verdict } from '../../shared/operator/handler.ts'
import { change } from '../../shared/operator/nouns/operators.ts'
import { pageOf } from '../../shared/operator/pages.ts'
import { real, timeLimit } from '../../shared/runtime.ts'
import { findBank } from '../../shared/store/banks/banks.ts'
import { changePages } from '../../shared/store/operator/changes.ts'
import { findCustomerHash } from '../../shared/store/operator/customer-hash.ts'
import { findProvider } from '../../shared/store/providers/providers.ts'
import { changeView } from '../../shared/views/operator/change.ts'

const DAYS_MAX = 400

/** The part of the function's fifteen minutes that a call uses. */
const RUN_MS = 780_000

export const manageChange = operatorHandler(change, {
  verify: async ({ from, to }, { at }, runtime) => {
    if (dayAfter(from, DAYS_MAX) <= to) return invalid({ to: [`must be within ${DAYS_MAX} days`] })
    const verdicts = await verifyDays({ from, to }, at, timeLimit(runtime, RUN_MS))
    if (!verdicts) return invalid({ to: ['needs fewer days: the time was up'] })
    return new Verdict(verdicts, verdicts.some(isDifference))
  },
  list: async ({ provider, bank, phone, ...page }, _, runtime) => {
    if (provider && !(await findProvider(provider))) return noSuch('provider')
    if (bank && !(await findBank(bank))) return noSuch('bank')
    const customer = phone && (await findCustomerHash(phone))
    if (phone && !customer) return []
    const owner = defined({ provider, bank, customer })
    return pageOf('change list', { ...page, ...owner }, runtime, {
      read: (span) => changePages(owner, span),
      keyOf: ({ key }) => key,
      viewOf: ({ change }) => changeView(change),
    })
  },
})

export const handler = manageChange(real)
