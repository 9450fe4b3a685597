import type { Change } from '../../shared/domain/operator/change.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { operatorHandler } from '../../shared/operator/handler.ts'
import { change } from '../../shared/operator/nouns/change.ts'
import { listChanges } from '../../shared/store/operator/changes.ts'

const view = ({ at, by, approvedBy, noun, verb, target, changed }: Change) => ({
  at: at.toISOString(),
  by,
  ...(approvedBy ? { approved_by: approvedBy } : {}),
  noun,
  verb,
  target,
  changed,
})

export const handler = operatorHandler(change, {
  list: async ({ provider, bank, limit }) => {
    if (provider && bank)
      return new Refusal(1400, { details: 'name --provider or --bank, not both' })
    const owner = provider ? { provider } : bank ? { bank } : {}
    return (await listChanges(owner, limit)).map(view)
  },
})
