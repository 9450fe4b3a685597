import { beforeAll, describe, expect, test, vi } from 'vitest'
import { manageException } from '../../functions/operator/manage-exception.ts'
import { type BulkId, digestOf } from '../../shared/domain/operator/bulk.ts'
import { DAY_SECONDS, dayOf } from '../../shared/domain/time.ts'
import { operateFully } from '../../shared/operator/operate.ts'
import type { OperatorReply } from '../../shared/operator/verbs.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { keys } from '../../shared/store/keys.ts'
import { decideApproval } from '../../shared/store/operator/approvals.ts'
import { put, remove } from '../../shared/store/table.ts'
import { eventually } from '../support/eventually.ts'
import { createProvider } from '../support/provider.ts'
import { pathOf, SILENT } from '../support/requests.ts'
import { printed, type Shown, testInProcess, useService } from '../support/running-service.ts'
import { aroundTableCalls } from '../support/table-calls.ts'

/** Refunds and resolutions of many debits by one call (docs/operations.md#many-at-once). */

const service = useService({ approvals: true })
const { call, operate, refusal } = service
const [ama, kofi] = ['local:ama', 'local:kofi']
const today = () => dayOf(service.sandbox().control.clock.now())

beforeAll(async () => {
  const unlimited = { 'per-minute': '100000' }
  await call('limit', 'set', { provider: 'demo', operation: 'charge', ...unlimited }, ama)
  await call('limit', 'set', { bank: 'GCB', operation: 'debit-callback', ...unlimited }, ama)
})

/** Creates debits that the bank completed after they had failed. */
const lateCompletions = (count: number, bank = 'GCB'): Promise<string[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const fields = { amount: '10.00', bank_identifier: bank }
      return (await service.chargeCompletedLate(fields)).reference
    }),
  )

type Options = Record<string, string>

/** Calls a verb as the command does, with a file. */
const operateWith = (verb: string, file: string, options: Options = {}): Promise<OperatorReply> =>
  operateFully(
    { noun: 'exception', verb, options: { file: 'late.csv', ...options } },
    ({ noun, verb, options }) => operate(noun, verb, options, ama),
    { file: [Buffer.from(file)] },
  )
const request = async (verb: string, references: readonly string[], options: Options = {}) =>
  printed(await operateWith(verb, ['reference', ...references].join('\n'), options)).approval

const grant = (id: string): Promise<Shown> => call('approval', 'grant', { id }, kofi)
const refundsOf = (references: readonly string[]) =>
  Promise.all(references.map(async (one) => (await service.show(one)).refund?.uuid))
const openOf = async (references: readonly string[]) => {
  const open: Shown[] = await call('exception', 'list', { status: 'open', limit: '1000' })
  return open.filter(({ reference }) => references.includes(reference)).length
}

describe('a refund of many debits', () => {
  test('one approval shows their count, sum and digest, and each has its outcome', async () => {
    const late = await lateCompletions(4)
    const [refunded = '', ...others] = late
    const single = (await call('exception', 'refund', { reference: refunded }, ama)).approval
    await grant(single.id)
    const { reference: open } = await service.chargeUntil('processing', { phone_number: SILENT })
    const unknown = 'DCS-20200101-ABC123'
    const references = [...late, open, unknown]
    const approval = await request('refund', [...references, refunded], { reason: 'Outage' })
    expect(approval).toMatchObject({
      options: { file: 'late.csv', reason: 'Outage' },
      scope: { count: 6, digest: digestOf(`${references.toSorted().join('\n')}\n`) },
    })
    const amounts = await Promise.all(
      [...late, open].map(async (one) => Number((await service.show(one)).amount)),
    )
    const sum = amounts.reduce((total, amount) => total + amount, 0)
    expect(approval.scope.sum).toBe(sum.toFixed(2))
    const result = await grant(approval.id)
    expect(result.done).toBe(3)
    expect(result.skipped).toMatchObject([{ reference: refunded, reason: /^its refund is / }])
    expect(result.refused.map(({ reference }: Shown) => reference).toSorted()).toEqual(
      [open, unknown].toSorted(),
    )
    expect(await openOf(late)).toBe(0)
    expect((await refundsOf(others)).every(Boolean)).toBe(true)
    expect(await refusal('approval', 'grant', { id: approval.id }, kofi)).toContain('already made')
  })

  test('a selection contains the open exceptions of a kind, a bank and days', async () => {
    const [late, other] = [await lateCompletions(2, 'ECO'), await lateCompletions(1)]
    const days = { from: today(), to: today() }
    const selection = { kind: 'late_completion', bank: 'ECO', ...days }
    const { approval } = await call('exception', 'refund', selection, ama)
    expect(approval).toMatchObject({ options: selection, scope: { count: 2, sum: '20.00' } })
    expect(await grant(approval.id)).toEqual({ done: 2, skipped: [], refused: [] })
    expect([await openOf(late), await openOf(other)]).toEqual([0, 1])
    const none = await refusal('exception', 'refund', selection, ama)
    expect(none).toBe('no such open exception in these days')
    const wrong = await refusal('exception', 'refund', { ...selection, kind: 'contradiction' }, ama)
    expect(wrong).toBe('--kind: allows no refund')
    const { kind: _, ...partial } = selection
    const file = { file: 'late.csv', bulk: 'an-upload' }
    for (const mixed of [partial, { bulk: file.bulk }, { ...file, ...days }]) {
      const refused = await refusal('exception', 'refund', mixed, ama)
      expect(refused).toContain('--reference: is required')
    }
    const filtered = { ...file, kind: 'late_completion' }
    expect(await refusal('exception', 'refund', filtered, ama)).toContain('--kind: belongs to')
  })

  /** Creates late completions whose refunds the bank rejects: their account ends with 0000. */
  const rejectedLate = async (count: number) => {
    const phone = '+233247770000'
    const account = { phone, bank: 'GCB', name: 'Adwoa Poku', 'account-number': '1041000000' }
    await service.approved('customer', 'link', account)
    const charged = await Promise.all(
      Array.from({ length: count }, () =>
        service.chargeUntil('processing', { phone_number: phone }),
      ),
    )
    for (const { uuid } of charged) {
      const report = { status: 'completed', bank_reference: `B-${uuid}` }
      await service.report(uuid, { ...report, status: 'failed', error_message: 'No' })
      await service.report(uuid, report)
    }
    return charged
  }

  test('a selection of late completions retries no refund that failed since', async () => {
    const charged = await rejectedLate(2)
    const late = charged.map(({ reference }) => reference)
    const days = { from: today(), to: today() }
    const selection = { kind: 'late_completion', bank: 'GCB', ...days }
    const { approval } = await call('exception', 'refund', selection, ama)
    for (const reference of late)
      await grant((await call('exception', 'refund', { reference }, ama)).approval.id)
    await eventually(async () => expect(await openOf(late)).toBe(2))
    const again = { status: 'completed', bank_reference: 'again' }
    await service.report(charged[0]?.uuid ?? '', again)
    expect(await openOf(late)).toBe(3)
    const refunds = await refundsOf(late)
    const { refused } = await grant(approval.id)
    const reason = expect.stringContaining('no open exception')
    expect(refused).toEqual(late.toSorted().map((reference) => ({ reference, reason })))
    expect(await refundsOf(late)).toEqual(refunds)
  })

  testInProcess(
    'two workers of one call open a refund once, also if the bank rejects it between them',
    async () => {
      vi.stubEnv('APPROVALS', 'false')
      const references = (await rejectedLate(1)).map(({ reference }) => reference)
      const rows = JSON.stringify(references)
      const { bulk } = await call('exception', 'upload', { rows })
      const refund = () => call('exception', 'refund', { file: 'late.csv', bulk })
      const results: Shown[] = []
      let refunds: unknown[] = []
      const restore = aroundTableCalls(async (name, next, text) => {
        if (name === 'TransactWrite' && text().includes('bulk-outcome')) {
          restore()
          results.push(await refund())
          await eventually(async () => expect(await openOf(references)).toBe(1))
          refunds = await refundsOf(references)
        }
        return next()
      })
      results.push(await refund())
      expect(results).toEqual(Array(2).fill({ done: 1, skipped: [], refused: [] }))
      // Another refund has another uuid.
      expect(await refundsOf(references)).toEqual(refunds)
    },
  )

  test('one approval accepts the requests of a provider for many reversals', async () => {
    const { credential } = await createProvider(service, 'asking', { reversals: 'request' })
    const requested: string[] = []
    for (const _ of [1, 2]) {
      const { reference } = await service.chargeCompleted({}, credential)
      const sent = { credential, body: { reason: 'Cancelled' } }
      await service.send('POST', pathOf('request-reversal', { reference }), sent)
      requested.push(reference)
    }
    const { id } = await request('refund', requested)
    expect(await grant(id)).toEqual({ done: 2, skipped: [], refused: [] })
    for (const reference of requested) {
      const { status, refund, reversal_request } = await service.show(reference)
      expect([status, reversal_request.status]).toEqual(['reversed', 'accepted'])
      expect(reversal_request.note).toBe(`refund ${refund.uuid}`)
    }
  })

  testInProcess('a repeated call that needs no approval has nothing to do', async () => {
    vi.stubEnv('APPROVALS', 'false')
    await lateCompletions(1, 'ECO')
    const days = { from: today(), to: today() }
    const selection = { kind: 'late_completion', bank: 'ECO', ...days }
    expect(await call('exception', 'refund', selection)).toMatchObject({ done: 1 })
    const nothing = { done: 0, skipped: [], refused: [] }
    expect(await call('exception', 'refund', selection)).toEqual(nothing)
    const note = { note: 'Returned by the bank' }
    expect(await call('exception', 'resolve', { ...selection, ...note })).toEqual(nothing)
  })

  testInProcess(
    'a call that needs no approval refunds its file, and continues with the selection that it began with',
    async () => {
      vi.stubEnv('APPROVALS', 'false')
      const file = await lateCompletions(2)
      const reply = await operateWith('refund', ['reference', ...file].join('\n'))
      expect(printed(reply)).toEqual({ done: 2, skipped: [], refused: [] })
      await lateCompletions(10, 'ECO')
      const selection = { kind: 'late_completion', bank: 'ECO', from: today(), to: today() }
      let reads = 0
      const slow = { ...real, now: () => new Date(Date.now() + 5_000 * reads++) }
      const event = { verb: 'refund', options: selection }
      const { bulk, processed } = printed(await manageException(slow)(event))
      expect(processed).toBeGreaterThan(0)
      expect(processed).toBeLessThan(10)
      const rest = { ...event, options: { ...selection, bulk } }
      const all = { done: 10, skipped: [], refused: [] }
      expect(printed(await manageException(real)(rest))).toEqual(all)
    },
  )

  test('a selection that also names an upload is a request for the selection', async () => {
    const [selected, uploaded] = [await lateCompletions(1, 'ECO'), await lateCompletions(1)]
    const bulk = 'rows-of-mallory'
    await call('exception', 'upload', { bulk, rows: JSON.stringify(uploaded) }, ama)
    const days = { from: today(), to: today() }
    const selection = { kind: 'late_completion', bank: 'ECO', ...days, bulk }
    const { approval } = await call('exception', 'refund', selection, ama)
    expect(await grant(approval.id)).toEqual({ done: 1, skipped: [], refused: [] })
    expect([await openOf(selected), await openOf(uploaded)]).toEqual([0, 1])
  })

  testInProcess(
    'a granted call that fails in the middle continues, and refunds none twice',
    async () => {
      const late = await lateCompletions(30)
      const [refunded = ''] = await lateCompletions(1)
      await grant((await call('exception', 'refund', { reference: refunded }, ama)).approval.id)
      const { reference: open } = await service.chargeUntil('processing', { phone_number: SILENT })
      const approval = await request('refund', [refunded, open, ...late])
      const decision = { decision: 'granted', by: kofi, at: new Date() } as const
      await decideApproval(approval.id, decision, [], real)
      const run = (runtime: Runtime) =>
        manageException(runtime)({
          verb: 'refund',
          options: {},
          actor: kofi,
          approval: approval.id,
        })
      let ids = 0
      const failing = {
        ...real,
        newId: () => {
          ids += 1
          if (ids > 11) throw new Error('The worker crashed')
          return real.newId()
        },
      }
      await expect(run(failing)).rejects.toThrow('The worker crashed')
      const before = (await refundsOf(late)).filter(Boolean)
      // The crashed call processed ten debits; two of the list get no refund.
      expect(before.length).toBeGreaterThanOrEqual(8)
      expect(before.length).toBeLessThanOrEqual(10)
      // Each look at the clock takes ten seconds, so the call ends at its time limit.
      let reads = 0
      const slow = { ...real, now: () => new Date(Date.now() + 10_000 * reads++) }
      const progress = printed(await run(slow))
      expect(progress).toMatchObject({ total: 32 })
      expect(progress.processed).toBeGreaterThan(10)
      expect(progress.processed).toBeLessThan(32)
      // Two workers at once, for example after a lost reply.
      const replies = await Promise.all([run(real), run(real)])
      expect(replies.some((reply) => 'result' in reply)).toBe(true)
      const result = replies.map((reply) => ('result' in reply ? reply.result : undefined))
      expect(result).toContainEqual({
        done: 30,
        skipped: [{ reference: refunded, reason: expect.stringMatching(/^its refund is /) }],
        refused: [{ reference: open, reason: expect.stringContaining('no open exception') }],
      })
      const after = await refundsOf(late)
      expect(after.every(Boolean)).toBe(true)
      expect(after).toEqual(expect.arrayContaining(before))
      const changes: Shown[] = await call('change', 'list', { limit: '1000' })
      const refunds = changes.filter((one) => one.verb === 'refund' && late.includes(one.target))
      expect(refunds.map(({ target }) => target).toSorted()).toEqual(late.toSorted())
      expect(refunds.every((one) => one.by === ama && one.approved_by === kofi)).toBe(true)
    },
  )

  test('the rows that another upload changed after the approval are not refunded', async () => {
    const [first, second] = [await lateCompletions(1), await lateCompletions(1)]
    const approval = await request('refund', first)
    const rows = JSON.stringify(second)
    await call('exception', 'upload', { bulk: approval.scope.bulk, n: '1', rows }, ama)
    expect(await refusal('approval', 'grant', { id: approval.id }, kofi)).toContain(
      'the rows are not those of the request',
    )
    expect(await openOf([...first, ...second])).toBe(2)
  })

  testInProcess('a call whose rows have expired is refused, also after its approval', async () => {
    const expired = 'the rows of this call have expired: start it again'
    const unknown = { file: 'late.csv', bulk: 'no-such-upload' }
    expect(await refusal('exception', 'refund', unknown, ama)).toBe(expired)
    const { id, scope } = await request('refund', await lateCompletions(1))
    await remove(keys.bulkRows(scope.bulk, 0))
    expect(await refusal('approval', 'grant', { id }, kofi)).toBe(expired)
  })

  testInProcess('a request for rows with the sum of another upload is refused', async () => {
    const [first, second] = [await lateCompletions(1), await lateCompletions(2)]
    const upload = { bulk: 'two-at-once', rows: JSON.stringify(first) }
    await call('exception', 'upload', upload, ama)
    const { pk, sk } = keys.bulkRows(upload.bulk as BulkId, 0)
    await put({ pk, sk }, 'bulk-rows', { rows: JSON.stringify(second) })
    const request = { file: 'late.csv', bulk: upload.bulk }
    expect(await refusal('exception', 'refund', request, ama)).toContain(
      'the rows are not those of the request',
    )
  })

  test('a second call about the same upload has outcomes of its own', async () => {
    const late = await lateCompletions(2)
    const first = await request('resolve', late, { note: 'By telephone' })
    expect(await grant(first.id)).toMatchObject({ done: 2 })
    const options = { file: 'late.csv', bulk: first.scope.bulk, 'despite-note': 'true' }
    const { approval } = await call('exception', 'refund', options, ama)
    expect(await grant(approval.id)).toMatchObject({ done: 2 })
    expect((await refundsOf(late)).every(Boolean)).toBe(true)
  })

  test('a malformed file is refused with its lines', async () => {
    const reply = await operateWith('refund', 'reference\nDCS-20261121-ABC123\nnone\n,\n')
    expect(reply).toEqual({
      error: '--file: line 3: reference is malformed\nline 4: reference is malformed',
    })
    expect(await operateWith('refund', 'uuid\nx')).toEqual({
      error: '--file: line 1: is neither the header reference nor a reference',
    })
    expect(await operateWith('refund', 'reference\n')).toEqual({
      error: '--file: line 1: the file has no reference',
    })
    expect(await operateWith('refund', `DCS-20261121-ABC123\n${'none\n'.repeat(22)}`)).toEqual({
      error: expect.stringMatching(/^--file: line 2: (?:.|\n)*\nline 21: .*\nand 2 more lines$/),
    })
    expect(await operateWith('refund', 'reference;amount\nx;1')).toEqual({
      error: '--file: line 1: the separator must be a comma',
    })
  })
})

test('one approval resolves many exceptions with a note, and repeated lines count once', async () => {
  const late = await lateCompletions(3)
  const [noted = ''] = late
  await call('exception', 'resolve', { reference: noted, note: 'By telephone' }, ama)
  const open = await service.chargeUntil('processing', { phone_number: SILENT })
  const note = { note: 'Returned by the bank' }
  const approval = await request('resolve', [...late, ...late, open.reference], note)
  expect(approval.scope.count).toBe(4)
  expect(await grant(approval.id)).toEqual({
    done: 2,
    skipped: [{ reference: noted, reason: 'none of the selected exceptions is open' }],
    refused: [{ reference: open.reference, reason: 'no such exception' }],
  })
  expect(await openOf(late)).toBe(0)
})

describe('a debit with more reports than a transaction has room for', () => {
  const reportedOften = async () => {
    const [reference = ''] = await lateCompletions(1)
    const { uuid } = await service.show(reference)
    for (let n = 0; n < 80; n += 1) {
      const report = { status: 'completed', bank_reference: `${reference}-again-${n}` }
      expect((await service.report(uuid, report)).status).toBe(422)
    }
    expect(await openOf([reference])).toBe(81)
    return reference
  }
  /** Returns a worker that crashes before its last transaction. */
  const crashing = (ids: number): Runtime => {
    let remaining = ids
    return {
      ...real,
      newId: () => {
        if (remaining === 0) throw new Error('The worker crashed')
        remaining -= 1
        return real.newId()
      },
    }
  }

  test.each(['refund', 'resolve'])('one call to %s it resolves all', async (verb) => {
    const reference = await reportedOften()
    const options = verb === 'refund' ? { reason: 'Outage' } : { note: 'Returned' }
    const { id } = await request(verb, [reference], options)
    expect(await grant(id)).toMatchObject({ done: 1 })
    expect(await openOf([reference])).toBe(0)
    expect(await refundsOf([reference])).toEqual([
      verb === 'refund' ? expect.any(String) : undefined,
    ])
  })

  testInProcess.each(['file', 'reference'])(
    'a refund by --%s whose other exceptions another operator resolves in the middle is done',
    async (selection) => {
      const reference = await reportedOften()
      const reason = { reason: 'Outage' }
      const { id } =
        selection === 'file'
          ? await request('refund', [reference], reason)
          : (await call('exception', 'refund', { reference, ...reason }, ama)).approval
      let resolved = 0
      const restore = aroundTableCalls(async (name, next) => {
        const reply = await next()
        if (name === 'TransactWrite' && resolved === 0 && (await openOf([reference])) === 41) {
          resolved = 1
          await call('exception', 'resolve', { reference, note: 'By telephone' }, kofi)
        }
        return reply
      })
      const result = await grant(id).finally(restore)
      expect(result).toMatchObject(selection === 'file' ? { done: 1 } : { reference })
      expect([resolved, await openOf([reference])]).toEqual([1, 0])
      expect(await refundsOf([reference])).toEqual([expect.any(String)])
      expect((await call('approval', 'show', { id })).refusal ?? null).toBeNull()
    },
  )

  testInProcess.each([
    ['a refund of many', 'refund', 'file', 3],
    ['a resolution of many', 'resolve', 'file', 3],
    ['a refund of one', 'refund', 'reference', 2],
  ])(
    'the call of %s that crashes in the middle resolves the others when it is repeated',
    async (...row) => {
      const [, verb, selection, ids] = row
      const reference = await reportedOften()
      const text = verb === 'refund' ? { reason: 'Outage' } : { note: 'Returned' }
      const { id } =
        selection === 'file'
          ? await request(verb, [reference], text)
          : (await call('exception', verb, { reference, ...text }, ama)).approval
      await decideApproval(id, { decision: 'granted', by: kofi, at: new Date() }, [], real)
      const run = (runtime: Runtime) =>
        manageException(runtime)({ verb, options: {}, actor: kofi, approval: id })
      await expect(run(crashing(ids))).rejects.toThrow('The worker crashed')
      expect(await openOf([reference])).toBe(41)
      const [opened] = await refundsOf([reference])
      const result = printed(await run(real))
      expect(result).toMatchObject(selection === 'file' ? { done: 1 } : { reference })
      expect(await openOf([reference])).toBe(0)
      expect(await refundsOf([reference])).toEqual([opened])
    },
  )
})

testInProcess('a note closes no report of another day, and none after its request', async () => {
  const [reference = ''] = await lateCompletions(1, 'ECO')
  const { uuid } = await service.show(reference)
  const reportAgain = async (bankReference: string) => {
    const report = { status: 'completed', bank_reference: bankReference }
    expect((await service.report(uuid, report, 'bt_sandbox_eco')).status).toBe(422)
  }
  const firstDay = today()
  const requestFor = async (day: string) => {
    const selection = { kind: 'late_completion', bank: 'ECO', from: day, to: day }
    const { approval } = await call('exception', 'resolve', { ...selection, note: day }, ama)
    expect(approval.scope.count).toBe(1)
    return approval.id
  }
  const openReports = async () =>
    (await service.exceptions(reference)).flatMap(({ note, report }) =>
      note === null ? [JSON.parse(report).bank_reference] : [],
    )
  const early = await requestFor(firstDay)
  await reportAgain('after-the-request')
  expect(await grant(early)).toMatchObject({ done: 1 })
  expect(await openReports()).toEqual(['after-the-request'])
  await service.pass(DAY_SECONDS)
  await reportAgain('of-the-second-day')
  expect(await grant(await requestFor(today()))).toMatchObject({ done: 1 })
  expect(await openReports()).toEqual(['after-the-request'])
  await reportAgain('of-the-second-day-again')
  expect(await grant(await requestFor(firstDay))).toMatchObject({ done: 1 })
  expect(await openReports()).toEqual(['of-the-second-day-again'])
  const { clock } = service.sandbox().control
  await clock.freeze(true)
  await reportAgain('at-the-time-of-the-request')
  expect(await grant(await requestFor(today()))).toMatchObject({ done: 1 })
  await clock.freeze(false)
  expect(await openReports()).toEqual([])
})

testInProcess(
  'a note that loses a race against another note resolves the other exceptions',
  async () => {
    const [reference = ''] = await lateCompletions(1)
    const { uuid } = await service.show(reference)
    await service.report(uuid, { status: 'unknown' })
    const resolve = (options: Options, actor: string) =>
      call('exception', 'resolve', { reference, ...options }, actor)
    const restore = aroundTableCalls(async (name, next, text) => {
      if (name === 'TransactWrite' && text().includes('Second')) {
        restore()
        await resolve({ kind: 'refused_report', note: 'First' }, kofi)
      }
      return next()
    })
    expect(await resolve({ note: 'Second' }, ama)).toMatchObject([
      { kind: 'refused_report', note: 'First' },
      { kind: 'late_completion', note: 'Second' },
    ])
  },
)
