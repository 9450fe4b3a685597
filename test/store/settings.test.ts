import * as v from 'valibot'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type SavedBank, saveBank } from '../../shared/banks/save-bank.ts'
import { type Bank, BankIdentifier } from '../../shared/domain/banks/bank.ts'
import type { Provider, ProviderId } from '../../shared/domain/providers/provider.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { real } from '../../shared/runtime.ts'
import { findBank, putAccount, removeAccount } from '../../shared/store/banks/banks.ts'
import {
  connectionConfig,
  findConnectorSettings,
} from '../../shared/store/banks/connector-settings.ts'
import { keys } from '../../shared/store/keys.ts'
import { changeProvider, findProvider } from '../../shared/store/providers/providers.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { type Item, put, read } from '../../shared/store/table.ts'
import { demoProvider, gcb, providerId } from '../support/examples.ts'
import { storeProvider } from '../support/settings.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable } from '../support/tables.ts'

/** Tests concurrent changes of settings and lost responses. */

beforeAll(useFreshTable)
beforeAll(() => {
  process.env.SEALING_KEY = 'a text for tests'
})

const OPERATORS = Array.from({ length: 8 }, (_, n) => n)

const taken = () => new Refusal(1409)
let made = 0
beforeEach(() => {
  made += 1
})

describe('providers', () => {
  let id: ProviderId
  beforeEach(() => {
    id = providerId(`provider-${made}`)
  })

  const change = (changes: Partial<Provider>) =>
    changeProvider(id, (before) => ({ ...(before ?? demoProvider), ...changes }), noWrites, real)
  const itemOf = () => read<Item>(keys.provider(id))

  test('a creation whose response is lost happens once', async () => {
    let writes = 0
    const restore = aroundTableCalls(async (name, write) => {
      if (name === 'Put') {
        writes += 1
        await write()
      }
      // The client has sent the write again and returns the last response.
      return write()
    })
    const create = (before: Provider | undefined) => (before ? taken() : { ...demoProvider, id })
    const created = await changeProvider(id, create, noWrites, real)
    restore()
    expect([created, writes]).toEqual([{ ...demoProvider, id }, 1])
    expect(await findProvider(id)).toEqual(created)
  })

  test.each([
    ['several operators', false],
    ['several operators to settings from before revisions', true],
  ])('the concurrent changes of %s are all kept', async (_, isEarlier) => {
    if (isEarlier) await put(keys.provider(id), 'provider', { ...demoProvider, id })
    const add = (n: number) => (before: Provider | undefined) => ({
      ...(before ?? { ...demoProvider, id }),
      allowedAddresses: [...(before?.allowedAddresses ?? []), `10.0.0.${n}/32`],
    })
    await Promise.all(OPERATORS.map((n) => changeProvider(id, add(n), noWrites, real)))
    const { allowedAddresses } = (await findProvider(id)) ?? {}
    expect(allowedAddresses?.toSorted()).toEqual(OPERATORS.map((n) => `10.0.0.${n}/32`))
  })

  test('a late write is rejected even if the settings are equal again', async () => {
    await storeProvider({ ...demoProvider, id })
    const before = await itemOf()
    for (const status of ['suspended', 'active'] as const) await change({ status })
    const after = await itemOf()
    expect({ ...after, revision: '' }).toEqual({ ...before, revision: '' })
    expect(after?.revision).not.toBe(before?.revision)
  })
})

test('a removal includes the change of another operator since its read', async () => {
  const [phone, bank] = ['+233241234567', 'GCB']
  const link = (accountNumber: string) => {
    const holder = { customerName: 'Ama', accountType: 'savings', status: 'active' } as const
    return putAccount(phone, bank, { ...holder, accountNumber }, noWrites, real)
  }
  await link('1041001001')
  const restore = aroundTableCalls(async (name, next) => {
    if (name !== 'TransactWrite') return next()
    restore()
    await link('1041001002')
    return next()
  })
  const remove = () => removeAccount(phone, bank, noWrites, real)
  expect([await remove(), await read(keys.account(phone, bank)), await remove()]).toEqual([
    true,
    undefined,
    false,
  ])
})

describe('banks with a connector', () => {
  let bank: BankIdentifier
  beforeEach(() => {
    bank = v.parse(BankIdentifier, `BNK${made}`)
  })

  const connected = (before: Bank | undefined): Bank => ({
    ...(before ?? { ...gcb, identifier: bank }),
    connector: 'http',
  })
  const url = (n: number) => ({ 'connector-url': `https://bank.test/${n}` })
  const save = (change: (before: Bank | undefined) => Bank | Refusal, options = {}) =>
    saveBank({ identifier: bank, change, options }, real)
  const connect = (n: number) => save(connected, url(n))
  const disconnect = () => {
    const change = (before: Bank | undefined) =>
      before ? { ...before, connector: 'none' as const } : taken()
    return saveBank({ identifier: bank, change, options: {}, removesSettings: true }, real)
  }
  const standing = async () => {
    const [{ connector, status } = {}, settings] = await Promise.all([
      findBank(bank),
      findConnectorSettings(bank),
    ])
    return { connector, status, settings }
  }

  test('one of several operators creates the bank and gets its secret', async () => {
    const first = (before: Bank | undefined) => (before ? taken() : connected(before))
    const outcomes = await Promise.all(OPERATORS.map((n) => save(first, url(n))))
    const [winner, ...more] = outcomes.filter((one) => !(one instanceof Refusal))
    expect(more).toEqual([])
    const { url: settled, newSecret: secret } = winner as SavedBank
    expect(secret).toMatch(/^cs_/)
    expect((await standing()).settings).toEqual({ url: settled, secret })
  })

  test('a race of connecting and disconnecting leaves bank and settings consistent', async () => {
    for (const n of OPERATORS) {
      await connect(n)
      await Promise.all([disconnect(), connect(n + 1)])
      const { connector, settings } = await standing()
      expect(settings === undefined).toBe(connector === 'none')
    }
  })

  test('a payout uses a changed URL at once', async () => {
    const { settingsOf } = connectionConfig(real, 10)
    for (const n of [1, 2]) {
      await connect(n)
      expect((await settingsOf(bank))?.url).toBe(`https://bank.test/${n}`)
    }
  })

  test('a bank is disabled while another operator changes its URL', async () => {
    await connect(1)
    const disabled = (before: Bank | undefined) =>
      before ? ({ ...before, status: 'inactive' } as const) : taken()
    await Promise.all([save(disabled), connect(2)])
    expect(await standing()).toMatchObject({
      connector: 'http',
      status: 'inactive',
      settings: { url: 'https://bank.test/2' },
    })
  })
})
