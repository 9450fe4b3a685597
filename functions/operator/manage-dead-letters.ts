import { noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { deadLetters } from '../../shared/operator/nouns/operators.ts'
import { countLetters, firstLetters, redrive } from '../../shared/queues/dead-letters.ts'
import { type QueueName, queueNames } from '../../shared/queues/messages.ts'
import { hasQueue, real } from '../../shared/runtime.ts'
import { putChange } from '../../shared/store/operator/changes.ts'
import { letterView } from '../../shared/views/operator/dead-letters.ts'

const counted = async (queue: QueueName) => ({ queue, count: await countLetters(queue) })

export const manageDeadLetters = operatorHandler(deadLetters, {
  list: async ({ queue }, _author, runtime) => {
    if (!queue) return Promise.all(queueNames.filter(hasQueue).map(counted))
    if (!hasQueue(queue)) return noSuch('queue')
    const [row, letters] = await Promise.all([counted(queue), firstLetters(queue)])
    return [{ ...row, letters: letters.map((letter) => letterView(letter, runtime.now())) }]
  },
  redrive: async ({ queue }, author) => {
    if (!hasQueue(queue)) return noSuch('queue')
    await putChange({ ...author, target: queue }, { dead_letters: 'redriven' })
    return redrive(queue)
  },
})

export const handler = manageDeadLetters(real)
