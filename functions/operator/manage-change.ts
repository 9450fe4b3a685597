import { defined } from '../../shared/domain/complete.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { operatorHandler } from '../../shared/operator/handler.ts'
import { change } from '../../shared/operator/nouns/operators.ts'
import { real } from '../../shared/runtime.ts'
import { listChanges } from '../../shared/store/operator/changes.ts'
import { changeView } from '../../shared/views/operator/change.ts'

export const manageChange = operatorHandler(change, {
  list: async ({ provider, bank, limit }) => {
    if (provider && bank) {
      return new Refusal(1400, { details: 'name --provider or --bank, not both' })
    }
    return (await listChanges(defined({ provider, bank }), limit)).map(changeView)
  },
})

export const handler = manageChange(real)
