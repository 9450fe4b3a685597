import { defined } from '../../shared/domain/complete.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { operatorHandler } from '../../shared/operator/handler.ts'
import { change } from '../../shared/operator/nouns/operators.ts'
import { real } from '../../shared/runtime.ts'
import { listChanges } from '../../shared/store/operator/changes.ts'
import { findCustomerHash } from '../../shared/store/operator/customer-hash.ts'
import { changeView } from '../../shared/views/operator/change.ts'

export const manageChange = operatorHandler(change, {
  list: async ({ provider, bank, phone, limit }) => {
    if ([provider, bank, phone].filter(Boolean).length > 1) {
      return new Refusal(1400, { details: 'name one of --provider, --bank and --phone' })
    }
    const customer = phone && (await findCustomerHash(phone))
    if (phone && !customer) return []
    return (await listChanges(defined({ provider, bank, customer }), limit)).map(changeView)
  },
})

export const handler = manageChange(real)
