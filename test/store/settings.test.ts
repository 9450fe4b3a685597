import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Saved, saveBank } from '../../shared/connections/save.ts'
import type { Bank } from '../../shared/domain/bank.ts'
import type { Partner, PartnerId } from '../../shared/domain/partner.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { findBank } from '../../shared/store/banks.ts'
import { findConnectorSettings } from '../../shared/store/connector-settings.ts'
import { changePartner, findPartner } from '../../shared/store/partners.ts'
import { keys, table, tableName } from '../../shared/store/table.ts'
import { demoPartner, gcb, partnerId } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'

/** What operators set, when two of them do so at once, and when the answer to a write is lost. */

beforeAll(useFreshTable)
beforeAll(() => {
  process.env.SEALING_KEY = 'a text for tests'
})

const OPERATORS = Array.from({ length: 8 }, (_, n) => n)

let id: PartnerId
let made = 0
beforeEach(() => {
  made += 1
  id = partnerId(`partner-${made}`)
})

const open = () => changePartner(id, () => ({ ...demoPartner, id }))

const itemOf = async () =>
  (await table.send(new GetCommand({ TableName: tableName(), Key: keys.partner(id) }))).Item

const taken = () => new Refusal(1409)
const create = (n: number) =>
  changePartner(id, (before) => (before ? taken() : { ...demoPartner, id, name: `Maker ${n}` }))

/** Each write is done twice by its sender, who sees the answer of the second one alone. */
const withLostAnswers = async <T>(work: () => Promise<T>): Promise<T> => {
  const send = table.send.bind(table) as (command: unknown) => Promise<never>
  const client = vi.spyOn(table, 'send').mockImplementation(async (command: unknown) => {
    if (command instanceof PutCommand) await send(command)
    return send(command)
  })
  try {
    return await work()
  } finally {
    client.mockRestore()
  }
}

describe('a provider', () => {
  test('is as the change has made it, and a change that comes to the same writes nothing', async () => {
    await open()
    const item = await itemOf()
    expect(await changePartner(id, (before) => before ?? taken())).toEqual({ ...demoPartner, id })
    expect(await itemOf()).toEqual(item)
    expect(await findPartner(id)).toEqual({ ...demoPartner, id })
  })

  test('stays as it was when the change is refused', async () => {
    await open()
    expect(await create(1)).toMatchObject({ code: 1409 })
    expect(await findPartner(id)).toMatchObject({ name: demoPartner.name })
  })

  test('keeps what each of several operators changed at once', async () => {
    await open()
    const add = (n: number) => (before: Partner | undefined) => ({
      ...demoPartner,
      ...before,
      allowedAddresses: [...(before?.allowedAddresses ?? []), `10.0.0.${n}/32`],
    })
    await Promise.all(OPERATORS.map((n) => changePartner(id, add(n))))
    const { allowedAddresses } = (await findPartner(id)) ?? {}
    expect(allowedAddresses?.toSorted()).toEqual(OPERATORS.map((n) => `10.0.0.${n}/32`))
  })

  test('is created by one of several operators, and the others are told', async () => {
    const outcomes = await Promise.all(OPERATORS.map(create))
    const [winner, ...more] = outcomes.filter((one) => !(one instanceof Refusal))
    expect(more).toEqual([])
    expect(await findPartner(id)).toEqual(winner)
  })

  test('is created by who did not hear that it was', async () => {
    expect(await withLostAnswers(() => create(1))).toMatchObject({ name: 'Maker 1' })
    expect(await findPartner(id)).toMatchObject({ name: 'Maker 1' })
  })
})

describe('a bank with an endpoint of its own', () => {
  const connect = (n: number) =>
    saveBank(gcb.identifier, (before) => ({ ...(before ?? gcb), connector: 'http' }) as Bank, {
      'connector-url': `https://bank.test/${n}`,
    })

  test('has one secret, told to the one operator who made it', async () => {
    const saved = (await Promise.all(OPERATORS.map(connect))) as Saved[]
    const told = saved.flatMap(({ newSecret }) => newSecret ?? [])
    expect(told).toHaveLength(1)
    expect(await findConnectorSettings(gcb.identifier)).toMatchObject({ secret: told[0] })
    expect(await findBank(gcb.identifier)).toMatchObject({ connector: 'http' })
  })

  test('keeps its secret when it is connected again', async () => {
    const before = await findConnectorSettings(gcb.identifier)
    expect(await connect(9)).not.toHaveProperty('newSecret')
    expect(await findConnectorSettings(gcb.identifier)).toEqual({
      secret: before?.secret,
      url: 'https://bank.test/9',
    })
  })
})
