import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sampleFiles } from '../../commands/sample-events.ts'
import { functionRows } from '../../infra/definitions/functions.ts'
import { jobNames } from '../../infra/definitions/jobs.ts'
import { actingAs } from '../../sandbox/authorizer.ts'
import { operationNames } from '../../shared/api/operations.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { writeReport } from '../../shared/settlement/report/bucket.ts'
import { keys } from '../../shared/store/keys.ts'
import { put } from '../../shared/store/table.ts'
import { batch } from '../settlement/report/one-batch.ts'
import { providerId } from '../support/examples.ts'
import { takeRefused } from '../support/permissions/record.ts'
import { sampleEvent } from '../support/requests.ts'
import { queuesOf, useService } from '../support/running-service.ts'
import { sampleReply } from '../support/sample-replies.ts'

/** Functions in their own roles, and rare calls that no other flow makes. */

const service = useService()

test('a function is denied a call that its row does not allow, which fails the test file', async () => {
  const calls = [
    () => put({ pk: 'DEBIT#DCS-20261121-ABC123', sk: 'DEBIT' }, 'debit', { amount: pesewas(1) }),
    () => put(keys.provider(providerId('demo')), 'provider', {}),
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
  const line = 'get-debit-request is not allowed dynamodb:PutItem on table PROVIDER#demo'
  expect(service.lines.at(-1)).toContain(line)
})

const rows = jobNames.flatMap((job) => queuesOf(job).map((queue) => [job, queue] as const))

test.each(rows)('the job %s leaves an unreadable message in %s', async (job, queue) => {
  const batchItemFailures = [{ itemIdentifier: 'message-1' }]
  expect(await service.runJob(job, 'no message', 0, queue)).toEqual({ batchItemFailures })
})

async function* breakingOff() {
  for (let n = 0; n < 6; n += 1) yield 'x'.repeat(1024 * 1024)
  throw new Error('The lines break off')
}

test.each([
  ['build-batch', batch()],
  ['manage-settlement', batch()],
  ['manage-ledger', { journal: batch().date }],
] as const)('a failed upload of a report of %s aborts the written parts', async (name, report) => {
  const writing = actingAs(name, () => writeReport(report, 'csv', breakingOff()))
  await expect(writing).rejects.toThrow('break off')
})

const invoke = async (name: string, event: unknown) => {
  const path = `/2015-03-31/functions/${name}/invocations`
  const body = typeof event === 'string' ? event : JSON.stringify(event)
  const response = await fetch(`${service.sandbox().address}${path}`, { method: 'POST', body })
  const { status, headers } = response
  return { status, fault: headers.get('x-amz-function-error'), reply: await response.json() }
}

test.each(functionRows)('the Invoke API accepts the sample of $name', async ({ name }) => {
  const { status, fault, reply } = await invoke(name, await sampleEvent(name))
  expect([status, fault]).toEqual([200, null])
  expect(reply).toMatchObject(sampleReply(name))
})

test('the samples match operations.ts (npm run events writes them)', () => {
  const files = Object.entries(sampleFiles())
  const names = files.map(([name]) => name).sort()
  expect(names).toEqual([...operationNames, 'answer-unmatched'].sort())
  for (const [name, text] of files) {
    expect(readFileSync(`events/${name}.json`, 'utf8'), name).toBe(text)
  }
})

test('the Invoke API replies 404 for an unknown function, 400 for malformed JSON and 200 with a fault', async () => {
  expect((await invoke('nobody', {})).status).toBe(404)
  expect((await invoke('charge', '{')).status).toBe(400)
  const { status, fault, reply } = await invoke('relay', null)
  expect([status, fault]).toEqual([200, 'Unhandled'])
  const error = { errorType: expect.any(String), errorMessage: expect.any(String) }
  expect(reply).toMatchObject(error)
})
