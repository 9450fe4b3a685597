import type { SQSEvent } from 'aws-lambda'
import { describe, expect, test } from 'vitest'
import { jobNames, jobRow } from '../../infra/definitions/jobs.ts'
import { actingAs } from '../../sandbox/authorizer.ts'
import { operationNames, operations } from '../../shared/api/operations.ts'
import { statuses } from '../../shared/domain/debits/lifecycle.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { writeReport } from '../../shared/settlement/report/bucket.ts'
import { keys } from '../../shared/store/keys.ts'
import { findProvider } from '../../shared/store/providers/providers.ts'
import { put } from '../../shared/store/table.ts'
import { batch } from '../settlement/report/one-batch.ts'
import { providerId } from '../support/examples.ts'
import { takeRefused } from '../support/permissions/record.ts'
import { everyPermission, unusedOf } from '../support/permissions/unused.ts'
import { useService } from '../support/running-service.ts'

/** Functions in their own roles, and rare calls that no other flow makes. */

const service = useService()

describe('a function', () => {
  const demo = providerId('demo')

  test('is denied a call that its row does not allow, which fails the test file', async () => {
    const calls = [
      () => put({ pk: 'DEBIT#DCS-20261121-ABC123', sk: 'DEBIT' }, 'debit', { amount: pesewas(1) }),
      () => put(keys.provider(demo), 'provider', {}),
    ]
    for (const call of calls) {
      await expect(actingAs('get-debit-request', call)).rejects.toMatchObject({
        name: 'AccessDeniedException',
        message: expect.stringContaining('its row is in infra/definitions/function-permissions.ts'),
      })
    }
    expect(takeRefused()).toEqual([
      'get-debit-request: dynamodb:PutItem on table DEBIT#DCS-20261121-ABC123',
      'get-debit-request: dynamodb:PutItem on table PROVIDER#demo',
    ])
    expect(service.lines.at(-1)).toContain(
      'get-debit-request is not allowed dynamodb:PutItem on table PROVIDER#demo',
    )
  })

  test('can make a call that its row allows, as can a test, which has no role', async () => {
    const key = keys.provider(providerId('planted'))
    await actingAs('manage-provider', () => put(key, 'provider', {}))
    await put(key, 'provider', {})
    expect(await actingAs('charge', () => findProvider(demo))).toMatchObject({ id: demo })
  })

  test('is reported with its unused permissions once all flows have run', () => {
    const granted = everyPermission()
    const [kept, planted] = granted
    expect(unusedOf(granted.slice(0, 2), kept ? [kept] : [])).toEqual([
      `${planted?.name}: ${planted?.permission}`,
    ])
    expect(unusedOf(granted, granted)).toEqual([])
  })
})

describe('every operation', () => {
  const path = (template: string) => template.replaceAll(/\{\w+\}/g, 'x')

  test.each(operationNames)(
    '%s replies 401/1401 to a credential of the other kind',
    async (name) => {
      const { method, caller, path: template } = operations[name]
      const credential = caller === 'bank' ? 'sk_sandbox_demo' : 'bt_sandbox_gcb'
      const body = method === 'GET' ? {} : { body: {} }
      const reply = await service.send(method, path(template), { credential, ...body })
      expect([reply.status, reply.body.error.code]).toEqual([401, 1401])
    },
  )
})

test.each(statuses)('list-debit-requests accepts the status %s', async (status) => {
  const path = `/api/v1/payment-providers/debit-requests?status=${status}`
  const reply = await service.send('GET', path, { credential: 'sk_sandbox_demo' })
  expect([reply.status, reply.body.data]).toEqual([200, []])
})

describe('every job', () => {
  const fed = jobNames.flatMap((job) => {
    const { from } = jobRow(job)
    return 'queues' in from ? from.queues.map((queue) => ({ job, queue })) : []
  })

  test.each(fed)('$job leaves an unreadable message in $queue', async (row) => {
    const event = {
      Records: [
        {
          messageId: 'message-1',
          receiptHandle: 'gone',
          body: 'no message',
          eventSource: 'aws:sqs',
          eventSourceARN: `arn:aws:sqs:eu-west-1:000000000000:${row.queue}`,
          attributes: { ApproximateReceiveCount: '1' },
        },
      ],
    } as unknown as SQSEvent
    expect(await service.invoke(row.job, event)).toEqual({
      batchItemFailures: [{ itemIdentifier: 'message-1' }],
    })
  })
})

describe('a failed upload of a report', () => {
  const MEGABYTE = 1024 * 1024

  async function* breakingOff() {
    for (let n = 0; n < 11; n += 1) yield 'x'.repeat(MEGABYTE)
    throw new Error('The lines do not come to the batch')
  }

  test.each([
    ['build-batch', batch()],
    ['manage-settlement', batch()],
    ['manage-ledger', { journal: batch().date }],
  ] as const)('of %s aborts the parts that were written', async (name, report) => {
    const writing = actingAs(name, () => writeReport(report, 'csv', breakingOff()))
    await expect(writing).rejects.toThrow('do not come to the batch')
  })
})
