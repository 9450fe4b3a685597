import { defined } from '../../shared/domain/complete.ts'
import type { Change } from '../../shared/domain/operator/change.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { operatorHandler } from '../../shared/operator/handler.ts'
import { change } from '../../shared/operator/nouns/operators.ts'
import { real } from '../../shared/runtime.ts'
import { listChanges } from '../../shared/store/operator/changes.ts'

const view = ({ at, by, approvedBy, noun, verb, target, changed }: Change) => ({
  at: at.toISOString(),
  by,
  ...defined({ approved_by: approvedBy }),
  noun,
  verb,
  target,
  changed,
})

export const manageChange = operatorHandler(change, {
  list: async ({ provider, bank, limit }) => {
    if (provider && bank) {
      return new Refusal(1400, { details: 'name --provider or --bank, not both' })
    }
    return (await listChanges(defined({ provider, bank }), limit)).map(view)
  },
})

export const handler = manageChange(real)
