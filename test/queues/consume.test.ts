import type { Context, SQSEvent } from 'aws-lambda'
import { expect, test } from 'vitest'
import { consumer } from '../../shared/queues/consume.ts'

const reference = 'DCS-20261121-ABC123'

const event = (...bodies: string[]): SQSEvent =>
  ({
    Records: bodies.map((body, n) => ({ messageId: `m${n}`, body, eventSource: 'aws:sqs' })),
  }) as SQSEvent

const good = JSON.stringify({ reference })
const failures = (...ids: string[]) => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
})

const run = (batch: SQSEvent, fails: (n: number) => boolean = () => false) => {
  let n = 0
  const handler = consumer('submissions', async () => {
    n += 1
    if (fails(n - 1)) throw new Error('on purpose')
  })
  return handler(batch, {} as Context)
}

test('the failed messages of a batch come again, the others do not', async () => {
  expect(await run(event(good, good, good))).toEqual(failures())
  expect(await run(event(good, good, good), (n) => n === 1)).toEqual(failures('m1'))
  expect(await run(event(good, good), () => true)).toEqual(failures('m0', 'm1'))
})

test.each(['', 'no json', 'null', '{}', '{"reference":"x"}', '{"reference":7}'])(
  'a message that is none (%s) fails, and its neighbours do not',
  async (body) => {
    expect(await run(event(good, body, good))).toEqual(failures('m1'))
  },
)
