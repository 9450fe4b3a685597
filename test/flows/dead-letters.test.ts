import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { expect, test } from 'vitest'
import { deadLetters, type QueueName, queueNames } from '../../shared/queues/messages.ts'
import { queueUrlOf } from '../../shared/runtime.ts'
import { captureOutput } from '../support/output.ts'
import { useService } from '../support/running-service.ts'

/** Dead letters of each queue (docs/operations.md#dead-letters), with the permissions of the function. */

const service = useService()
captureOutput()

/** Writes a letter, as Scheduler does. */
const sendLetter = (queue: QueueName) => {
  const letter = { MessageBody: '{}', MessageGroupId: 'demo', MessageDeduplicationId: queue }
  const QueueUrl = deadLetters(queueUrlOf(queue))
  return new SQSClient().send(new SendMessageCommand({ QueueUrl, ...letter }))
}

const ROW = { queue: expect.any(String), count: 1 }

test.each(queueNames)('a dead letter of %s is listed and moves back', async (queue) => {
  await sendLetter(queue)
  const all = await service.call('dead-letters', 'list')
  expect(all).toHaveLength(queueNames.length)
  expect(all).toContainEqual({ ...ROW, queue })
  const [shown] = await service.call('dead-letters', 'list', { queue })
  expect(shown.letters).toMatchObject([{ message_id: expect.any(String) }])
  expect(shown.letters[0].age_seconds).toBeLessThan(60)
  const moved = await service.call('dead-letters', 'redrive', { queue }, 'local:ama')
  expect(moved).toEqual({ queue, moved: 1, remaining: 0 })
  expect(await service.changeOf(queue)).toMatchObject({ verb: 'redrive', by: 'local:ama' })
})

test('an unknown queue is refused', async () => {
  expect(await service.refusal('dead-letters', 'redrive', { queue: 'letters' })).toContain(
    '--queue',
  )
  expect(await service.refusal('dead-letters', 'redrive')).toContain('--queue: is required')
})
