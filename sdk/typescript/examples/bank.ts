import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { BankReports, bankServer, pesewasOf, type Submission } from '../src/index.ts'
import { replyStore } from './reply-store.ts'

/** A bank in SQLite that debits customers, reports the outcomes, pays providers, refunds customers and knows their accounts. */

const {
  PORT = '8080',
  DATABASE = ':memory:',
  SERVICE,
  BANK_TOKEN = '',
  CONNECTOR_SECRET,
} = process.env

const db = new DatabaseSync(DATABASE)
db.exec(`
  PRAGMA busy_timeout = 5000;
  CREATE TABLE IF NOT EXISTS accounts (number TEXT PRIMARY KEY, pesewas INTEGER CHECK (pesewas >= 0));
  CREATE TABLE IF NOT EXISTS bookings (id INTEGER PRIMARY KEY, uuid TEXT UNIQUE, account TEXT, state TEXT);
  CREATE TABLE IF NOT EXISTS customers (phone TEXT PRIMARY KEY, name TEXT, account TEXT);
  INSERT OR IGNORE INTO accounts VALUES ('1041001001', 1000000000);
  INSERT OR IGNORE INTO customers VALUES ('+233241234567', 'Ama Mensah', '1041001001')`)
const rows = (sql: string, ...values: (string | number | null)[]) =>
  db.prepare(sql).all(...values) as Record<string, string>[]

const bookingOf = (uuid: string) => rows('SELECT * FROM bookings WHERE uuid = ?', uuid)[0]
const referenceOf = (uuid: string) => `XYZ-${bookingOf(uuid)?.id}`

/** Books an amount and replies with `status`, or rejects it without the account or enough money. */
const book = <S>(status: S, uuid: string, account: string | undefined, pesewas: number) => {
  const move = 'UPDATE accounts SET pesewas = pesewas + ? WHERE number = ? AND pesewas + ? >= 0'
  const [moved] = rows(`${move} RETURNING number`, pesewas, account ?? null, pesewas)
  if (!moved) {
    const isKnown = rows('SELECT number FROM accounts WHERE number = ?', account ?? null).length > 0
    return isKnown
      ? ({ status: 'rejected', code: 'insufficient_funds', message: 'Not enough money' } as const)
      : ({ status: 'rejected', code: 'invalid_account', message: 'Unknown account' } as const)
  }
  rows('INSERT INTO bookings VALUES (NULL, ?, ?, ?)', uuid, account ?? null, String(status))
  return { status, bankReference: referenceOf(uuid) }
}

/** The text of an approval. The payee's name is first: an operator sets it, and the payee writes the narration. */
const promptOf = ({ payee, amount, currency, narration }: Submission) =>
  `Pay ${payee.name} ${currency} ${amount}? (${narration})`

const bank = bankServer({
  secret: CONNECTOR_SECRET ?? '',
  store: replyStore(db),
  onSubmission: (debit) => {
    process.stdout.write(`${promptOf(debit)}\n`)
    return book('accepted' as const, debit.uuid, debit.account_number, -pesewasOf(debit.amount))
  },
  onQuery: ({ kind, uuid }) =>
    kind === 'submission' ? { status: 'completed', bankReference: referenceOf(uuid) } : undefined,
  onPayout: ({ uuid, account_number, amount }) =>
    book('paid' as const, uuid, account_number, pesewasOf(amount)),
  onRefund: ({ uuid, debit_uuid, amount }) =>
    book('paid' as const, uuid, bookingOf(debit_uuid)?.account, pesewasOf(amount)),
  onAccount: (phone) => {
    const [customer] = rows('SELECT name, account FROM customers WHERE phone = ?', phone)
    const { account: accountNumber = '', name = '' } = customer ?? {}
    return customer && { accountNumber, name, active: true }
  },
})

/** Reports each debit until the service records it, does not know it or rejects the outcome. */
const report = async (reports: BankReports) => {
  for (const { uuid = '' } of rows(`SELECT uuid FROM bookings WHERE state = 'accepted'`)) {
    const outcome = { status: 'completed', bankReference: referenceOf(uuid) } as const
    await reports.callback(uuid, outcome).catch((error) => {
      if (![404, 422].includes(error.status)) throw error
    })
    rows('UPDATE bookings SET state = ? WHERE uuid = ?', 'reported', uuid)
  }
}
const reportLater = (reports: BankReports) =>
  setTimeout(
    () =>
      report(reports)
        .catch(console.error)
        .then(() => reportLater(reports)),
    1_000,
  )
if (SERVICE) reportLater(new BankReports({ apiKey: BANK_TOKEN, baseUrl: SERVICE }))

const server = createServer(bank.node).listen(Number(PORT), '127.0.0.1', () => {
  process.stdout.write(`bank http://127.0.0.1:${(server.address() as AddressInfo).port}/debits\n`)
})
