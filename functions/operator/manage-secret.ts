import { log } from '../../shared/log.ts'
import { resealErasures } from '../../shared/operator/erasure-records.ts'
import { operatorHandler } from '../../shared/operator/handler.ts'
import { secret as noun } from '../../shared/operator/nouns/operators.ts'
import { real } from '../../shared/runtime.ts'
import { putChange } from '../../shared/store/operator/changes.ts'
import { resealAll } from '../../shared/store/operator/reseal.ts'
import type { SecretOwner } from '../../shared/store/sealing.ts'

export const manageSecret = operatorHandler(noun, {
  reseal: async (_options, author, runtime) => {
    await putChange({ ...author, target: 'secrets' }, { secrets: 'resealed' })
    const onUnreadable = ({ kind, id }: SecretOwner): void => {
      const error = new Error('A secret cannot be opened')
      log.error('fault', { subject: [kind, id], error }, { SecretsUnreadable: 1 })
    }
    const [secrets, numbers] = await Promise.all([
      resealAll(onUnreadable, runtime),
      resealErasures(onUnreadable, runtime),
    ])
    return {
      resealed: secrets.resealed + numbers.resealed,
      unreadable: secrets.unreadable + numbers.unreadable,
    }
  },
})

export const handler = manageSecret(real)
