import { expect, test } from 'vitest'
import { manageCustomer } from '../../functions/operator/manage-customer.ts'
import { operateFully } from '../../shared/operator/operate.ts'
import type { OperatorReply } from '../../shared/operator/verbs.ts'
import { real } from '../../shared/runtime.ts'
import { putAccount } from '../../shared/store/banks/banks.ts'
import { keys } from '../../shared/store/keys.ts'
import { decideApproval } from '../../shared/store/operator/approvals.ts'
import { listOutcomes } from '../../shared/store/operator/bulks.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { remove } from '../../shared/store/table.ts'
import { printed, type Shown, testInProcess, useService } from '../support/running-service.ts'
import { aroundTableCalls } from '../support/table-calls.ts'

/** Accounts of a bank's customers from a file (docs/operations.md#customers-of-a-bank). */

const service = useService({ approvals: true })
const { call, operate, refusal } = service
const [ama, kofi] = ['local:ama', 'local:kofi']
const HASH = expect.stringMatching(/^[\w-]{22}$/)

/** Calls the verb as the command does. Returns the reply and the refused lines. */
const importFile = async (lines: readonly string[], bank = 'ADB') => {
  const refused: string[] = []
  const reply: OperatorReply = await operateFully(
    { noun: 'customer', verb: 'import', options: { bank, file: 'customers.csv' } },
    ({ noun, verb, options }) => operate(noun, verb, options, ama),
    { file: [Buffer.from(lines.join('\n'))], onRefused: (line) => refused.push(line) },
  )
  return { reply, refused }
}
const request = async (lines: readonly string[]): Promise<Shown> =>
  printed((await importFile(lines)).reply).approval
const grant = (id: string): Promise<Shown> => call('approval', 'grant', { id }, kofi)
const imported = async (lines: readonly string[]) => grant((await request(lines)).id)
const show = (phone: string, bank = 'ADB') => operate('customer', 'show', { phone, bank })
/** Returns the changes of an import, by the digest of its file. */
const recordsOf = async ({ digest }: Shown): Promise<[Shown, ...Shown[]]> =>
  (await call('change', 'list', { bank: 'ADB' })).filter(
    ({ changed, verb }: Shown) => verb === 'import' && changed.digest.to === digest,
  )

const HEADER = 'phone,name,account_number,active'
const NONE = { added: 0, changed: 0, removed: 0, refused: 0 }
const [esi, yaw, adjoa] = ['+233205000001', '+233205000002', '+233205000003']

test('one approval adds, changes and removes accounts, and a repeated file changes nothing', async () => {
  const file = [HEADER, `${esi},Esi Boateng,1041005001,true`, `${yaw},Yaw,1041005002,yes`]
  const approval = await request(file)
  expect(approval).toMatchObject({
    target: 'ADB',
    options: { bank: 'ADB', file: 'customers.csv' },
    scope: { added: 2, changed: 0, removed: 0, unchanged: 0, refused: 0, digest: HASH },
  })
  expect(await show(esi)).toHaveProperty('error')
  expect(await grant(approval.id)).toEqual({ ...NONE, added: 2 })
  expect(printed(await show(esi))).toMatchObject({
    ...{ customer: 'Esi Boateng', account_number: '1041005001', status: 'active' },
  })
  expect(await imported(file)).toEqual(NONE)
  // Columns have any order; a removed account needs a phone number only.
  const next = ['active,account_number,phone,name', `1,1041005009,${esi},Esi Boateng`, `0,,${yaw},`]
  expect(await imported(next)).toEqual({ ...NONE, changed: 1, removed: 1 })
  expect(printed(await show(esi)).account_number).toBe('1041005009')
  expect(await show(yaw)).toHaveProperty('error')
  expect(await imported(next)).toEqual(NONE)
})

test('each malformed or repeated line is named and counted, and the others are imported', async () => {
  const lines = [
    HEADER,
    `${adjoa},Adjoa,1041005003,true`,
    '0205000004,Kofi,1041005004,true',
    `${adjoa},Adjoa,1041005005,true`,
    '+233205000006,Abena,12,maybe',
    '+233205000007,Abena,12,true',
    '+233205000008,Abena,1041005008,true,1041005009',
  ]
  const { reply, refused } = await importFile(lines)
  expect(refused).toEqual([
    'line 3: must be in E.164 format; write it like +233241234567',
    'line 4: phone is repeated',
    'line 5: active must be true or false',
    'line 6: must be 6 to 20 digits',
    'line 7: 5 fields, but 4 columns',
  ])
  const { approval } = printed(reply)
  expect(approval.scope).toMatchObject({ added: 1, refused: 5 })
  expect(await grant(approval.id)).toEqual({ ...NONE, added: 1, refused: 5 })
})

test('a file without accounts, and one of an unknown bank, are refused at once', async () => {
  expect((await importFile(['phone,name'])).reply).toEqual({
    error: '--file: line 1: column account_number, active is missing',
  })
  expect((await importFile([`${HEADER},phone`])).reply).toEqual({
    error: '--file: line 1: column phone is repeated',
  })
  expect((await importFile([HEADER])).reply).toEqual({
    error: '--file: line 1: the file has no account',
  })
  expect((await importFile([HEADER, 'x,y,z,true'])).reply).toMatchObject({
    error: expect.stringContaining('--file: line 2: '),
  })
  const line = `${esi},Esi,1041005001,true`
  expect((await importFile([HEADER, line], 'XXX')).reply).toEqual({ error: 'no such bank' })
  expect(await refusal('customer', 'import', { bank: 'ADB', file: 'x.csv' }, ama)).toBe(
    '--file: is uploaded by the operator command',
  )
  const part = { bank: 'ADB', rows: JSON.stringify(Array(25_000).fill([esi])) }
  expect(await refusal('customer', 'upload', part, ama)).toContain('at most 350000 bytes')
})

testInProcess('the records of an import name no customer, and its rows are removed', async () => {
  const line = '+233205000011,Kwesi Appiah,1041005011,true'
  const { id, scope } = await request([HEADER, line])
  await grant(id)
  const items = await service.items()
  for (const text of line.split(',').slice(0, 3)) {
    const found = items.filter((item) => JSON.stringify(item).includes(text))
    expect(found.map(({ pk }) => pk)).toEqual(['CUSTOMER#+233205000011'])
  }
  const of = { by: ama, approved_by: kofi, target: 'ADB' }
  expect(await recordsOf(scope)).toMatchObject([{ ...of, changed: { added: { to: 1 } } }])
})

test('a second import of the same upload imports its rows', async () => {
  const { scope, id } = await request([HEADER, '+233205000031,Akua,1041005031,true'])
  await grant(id)
  const rows = JSON.stringify([['+233205000032', 'Esi', '1041005032']])
  await call('customer', 'upload', { bank: 'ADB', bulk: scope.bulk, rows }, ama)
  const again = { bank: 'ADB', file: 'customers.csv', bulk: scope.bulk }
  const { approval } = await call('customer', 'import', again, ama)
  expect(await grant(approval.id)).toEqual({ ...NONE, added: 1 })
  expect(await show('+233205000032')).toHaveProperty('result')
})

test('the rows that change after the approval are not imported', async () => {
  const approval = await request([HEADER, '+233205000021,Akua,1041005021,true'])
  const rows = JSON.stringify([['+233205000022', 'Mallory', '1041006666']])
  const { bulk } = approval.scope
  await call('customer', 'upload', { bank: 'ADB', bulk, n: '0', rows }, ama)
  expect(await refusal('approval', 'grant', { id: approval.id }, kofi)).toContain(
    'the rows are not those of the request',
  )
  expect(await show('+233205000022')).toHaveProperty('error')
})

testInProcess('the rows that change while a call compares them are not imported', async () => {
  const approval = await request([HEADER, '+233205000041,Akua,1041005041,true'])
  const { bulk } = approval.scope
  const rows = JSON.stringify([['+233205000042', 'Mallory', '1041006666']])
  const restore = aroundTableCalls(async (_, next, command) => {
    const reply = await next()
    if (command().includes('":prefix":"PART#"')) {
      restore()
      await call('customer', 'upload', { bank: 'ADB', bulk, rows }, ama)
    }
    return reply
  })
  expect(await refusal('approval', 'grant', { id: approval.id }, kofi)).toContain(
    'the rows are not those of the request',
  )
  expect(await show('+233205000042')).toHaveProperty('error')
})

testInProcess(
  'an import that is interrupted counts the rows that it wrote before, and is recorded once',
  async () => {
    const lines = [5, 6, 7].map((n) => `+23320500005${n},Akua,104100505${n},true`)
    const { id, scope } = await request([HEADER, ...lines])
    const restore = aroundTableCalls((name, next, command) =>
      name === 'Put' && command().includes('"pk":"CUSTOMER#+233205000057"')
        ? Promise.reject(new Error('throttled'))
        : next(),
    )
    await expect(grant(id)).rejects.toThrow('manage-customer').finally(restore)
    expect(await show('+233205000055')).toHaveProperty('result')
    // An earlier version takes a part with an outcome for done.
    expect(await listOutcomes(id)).toEqual(new Map())
    expect(await grant(id)).toEqual({ ...NONE, added: 3 })
    expect(await recordsOf(scope)).toHaveLength(1)
  },
)

testInProcess(
  'an import in several parts whose time ends continues with the next grant',
  async () => {
    const account = (n: number) => `+23320500009${n},Akua,104100509${n},true`
    const malformed = Array(1_000).fill('x,,,maybe')
    const { reply, refused } = await importFile([HEADER, account(1), ...malformed, account(2)])
    expect(refused).toHaveLength(1_000)
    const { id, scope } = printed(reply).approval
    expect(scope).toMatchObject({ added: 2, refused: 1_000 })
    await decideApproval(id, { decision: 'granted', by: kofi, at: new Date() }, [], real)
    // Each look at the clock takes ten seconds.
    let looks = 0
    const slow = { ...real, now: () => new Date(Date.now() + 10_000 * looks++) }
    const event = { verb: 'import', options: {}, actor: kofi, approval: id }
    const results: Shown[] = []
    while (results.length < 9 && !('added' in (results.at(-1) ?? {})))
      results.push(printed(await manageCustomer(slow)(event)))
    expect(results.at(-1)).toEqual({ ...NONE, added: 2, refused: 1_000 })
    const processed = results.slice(0, -1).map((one) => one.processed)
    expect(processed).toEqual(processed.toSorted())
    expect(processed).toEqual(expect.arrayContaining([0, 1]))
    expect(results[0]).toMatchObject({ bulk: scope.bulk, total: 2 })
    expect(await recordsOf(scope)).toHaveLength(1)
  },
)

testInProcess('an import whose rows have expired is refused, also after its approval', async () => {
  const expired = 'the rows of this call have expired: start it again'
  const unknown = { bank: 'ADB', file: 'x.csv', bulk: 'no-such-upload' }
  expect(await refusal('customer', 'import', unknown, ama)).toBe(expired)
  const throttled = () => Promise.reject(new Error('throttled'))
  for (const [keyOf, isCounted] of [
    [keys.bulkPart, false],
    [keys.bulkRows, false],
    [keys.bulkRows, true],
  ] as const) {
    const { id, scope } = await request([HEADER, '+233205000081,Akua,1041005081,true'])
    const restore = aroundTableCalls((name, next, command) =>
      name === 'Put' && command().includes('"pk":"CUSTOMER#+233') ? throttled() : next(),
    )
    if (isCounted) await expect(grant(id)).rejects.toThrow('manage-customer')
    restore()
    await remove(keyOf(scope.bulk, 0))
    expect(await refusal('approval', 'grant', { id }, kofi)).toBe(expired)
  }
  expect(await show('+233205000081')).toHaveProperty('error')
})

test('a grant is refused when an account of the file has changed since the request', async () => {
  const phone = '+233205000061'
  const fileWith = (account: string) => [HEADER, `${phone},Akua,${account},true`]
  await imported(fileWith('1041005061'))
  const same = await request(fileWith('1041005061'))
  expect(same.scope).toMatchObject({ changed: 0, unchanged: 1 })
  await imported(fileWith('1041009999'))
  const refused = await refusal('approval', 'grant', { id: same.id }, kofi)
  expect(refused).toBe('accounts of the file have changed: start the import again')
  expect(printed(await show(phone)).account_number).toBe('1041009999')
})

test('an import whose accounts were added since its request is granted, and its record counts them', async () => {
  const file = [HEADER, '+233205000071,Akua,1041005071,true', '+233205000072,Esi,1041005072,true']
  const { id, scope } = await request(file)
  expect(scope).toMatchObject({ added: 2, unchanged: 0 })
  await imported(file.slice(0, 2))
  expect(await grant(id)).toEqual({ ...NONE, added: 1 })
  const [{ changed }] = await recordsOf(scope)
  expect(changed).toMatchObject({ added: { to: 1 }, unchanged: { to: 1 }, refused: { to: 0 } })
})

testInProcess(
  'an import keeps the type of an account that an operator links since its read',
  async () => {
    const phone = '+233205000081'
    const { id } = await request([HEADER, `${phone},Akua,1041005081,true`])
    const linked = { customerName: 'Esi', accountNumber: '1041009999', status: 'active' } as const
    const restore = aroundTableCalls(async (name, next, command) => {
      if (name === 'Put' && command().includes(`"pk":"CUSTOMER#${phone}"`)) {
        restore()
        await putAccount(phone, 'ADB', { ...linked, accountType: 'savings' }, noWrites, real)
      }
      return next()
    })
    await grant(id)
    const kept = { customer: 'Akua', account_number: '1041005081', account_type: 'savings' }
    expect(printed(await show(phone))).toMatchObject(kept)
  },
)

test('an import keeps the type of an account, and activates it', async () => {
  const phone = '+233205000020'
  const account = { phone, bank: 'ADB', name: 'Akua', 'account-number': '1041005020' }
  const linked = { ...account, 'account-type': 'savings', status: 'inactive' }
  await grant((await call('customer', 'link', linked, ama)).approval.id)
  expect(await imported([HEADER, `${phone},Akua,1041005020,true`])).toEqual({ ...NONE, changed: 1 })
  const kept = { customer: 'Akua', account_number: '1041005020', account_type: 'savings' }
  expect(printed(await show(phone))).toMatchObject({ ...kept, status: 'active' })
})
