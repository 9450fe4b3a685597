import { log } from '../../shared/log.ts'
import { operatorHandler } from '../../shared/operator/handler.ts'
import { secret as noun } from '../../shared/operator/nouns/operators.ts'
import { real } from '../../shared/runtime.ts'
import { putChange } from '../../shared/store/operator/changes.ts'
import { resealAll } from '../../shared/store/operator/reseal.ts'

export const manageSecret = operatorHandler(noun, {
  reseal: async (_options, author, runtime) => {
    await putChange({ ...author, target: 'secrets' }, { secrets: 'resealed' })
    return resealAll(({ kind, id }) => {
      const error = new Error('A secret cannot be opened')
      log.error('fault', { subject: [kind, id], error }, { SecretsUnreadable: 1 })
    }, runtime)
  },
})

export const handler = manageSecret(real)
