import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import type { ReplyStore } from '../src/bank-replies.ts'
import { bankServer } from '../src/bank-server.ts'

/** A bank in SQLite: accepts debits, reports their completion, pays providers and refunds customers. */

const { PORT = '8080', DATABASE = ':memory:', SERVICE, BANK_TOKEN, CONNECTOR_SECRET } = process.env

const database = new DatabaseSync(DATABASE)
database.exec(`
  CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT);
  CREATE TABLE IF NOT EXISTS accounts (number TEXT PRIMARY KEY, pesewas INTEGER CHECK (pesewas >= 0));
  CREATE TABLE IF NOT EXISTS bookings (id INTEGER PRIMARY KEY, uuid TEXT UNIQUE, account TEXT, state TEXT);
  INSERT OR IGNORE INTO accounts VALUES ('1041001001', 1000000000)`)
const rows = (sql: string, ...values: (string | number | null)[]) =>
  database.prepare(sql).all(...values) as Record<string, string>[]

let last: Promise<unknown> = Promise.resolve()
const store: ReplyStore = {
  read: (key) => rows('SELECT reply FROM replies WHERE key = ?', key)[0]?.reply,
  once: (key, decide) => {
    const transact = async () => {
      const earlier = await store.read(key)
      if (earlier !== undefined) return earlier
      database.exec('BEGIN')
      try {
        const reply = await decide(undefined)
        rows('INSERT INTO replies VALUES (?, ?)', key, reply)
        database.exec('COMMIT')
        return reply
      } catch (error) {
        database.exec('ROLLBACK')
        throw error
      }
    }
    // One transaction at a time, because the database has one connection.
    const reply = last.then(transact)
    last = reply.catch(() => undefined)
    return reply
  },
}

const bookingOf = (uuid: string) => rows('SELECT * FROM bookings WHERE uuid = ?', uuid)[0]
const referenceOf = (uuid: string) => `XYZ-${bookingOf(uuid)?.id}`

/** Moves money and returns the reply: `state`, or rejected without the account or enough money. */
const book = <S extends string>(
  state: S,
  uuid: string,
  account: string | undefined,
  sum: number,
) => {
  const move = 'UPDATE accounts SET pesewas = pesewas + ? WHERE number = ? AND pesewas + ? >= 0'
  if (rows(`${move} RETURNING number`, sum, account ?? null, sum).length === 0)
    return { status: 'rejected', code: 'invalid_account', message: 'Not possible' } as const
  rows('INSERT INTO bookings VALUES (NULL, ?, ?, ?)', uuid, account ?? null, state)
  return { status: state, bankReference: referenceOf(uuid) }
}

const pesewasOf = (amount: string) => Number(amount.replace('.', ''))

const bank = bankServer({
  secret: CONNECTOR_SECRET ?? '',
  store,
  onSubmission: ({ uuid, account_number, amount }) =>
    book('accepted', uuid, account_number, -pesewasOf(amount)),
  onQuery: ({ kind, uuid }) =>
    kind === 'submission' ? { status: 'completed', bankReference: referenceOf(uuid) } : undefined,
  onPayout: ({ uuid, account_number, amount }) =>
    book('paid', uuid, account_number, pesewasOf(amount)),
  onRefund: ({ uuid, debit_uuid, amount }) =>
    book('paid', uuid, bookingOf(debit_uuid)?.account, pesewasOf(amount)),
})

/** Reports each debit until the service has recorded it, or does not know it or refuses the outcome. */
const report = async () => {
  for (const { uuid = '' } of rows(`SELECT uuid FROM bookings WHERE state = 'accepted'`)) {
    const outcome = {
      status: 'completed',
      bank_reference: referenceOf(uuid),
      approval_method: 'ussd',
    }
    const url = `${SERVICE}/api/v1/banks/debit-transactions/${uuid}/update`
    const { ok, status } = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${BANK_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(outcome),
    })
    if (ok || status === 404 || status === 422)
      rows(`UPDATE bookings SET state = 'reported' WHERE uuid = ?`, uuid)
  }
}
const reportLater = () => setTimeout(() => report().catch(console.error).then(reportLater), 1_000)
if (SERVICE) reportLater()

const server = createServer(bank.node).listen(Number(PORT), '127.0.0.1', () => {
  console.log(`bank http://127.0.0.1:${(server.address() as AddressInfo).port}/debits`)
})
