import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import express from 'express'
import { ApiError, DebitCollection, type EventStore, webhooks } from '../src/index.ts'

/**
 * A shop on Express. It charges orders, ships them after the webhook of the completed debit, and
 * compares them with the settlement reports. Run it with API_KEY, BASE_URL and WEBHOOK_SECRET.
 */

const { API_KEY = '', BASE_URL = '', WEBHOOK_SECRET = '', DATABASE = 'shop.db' } = process.env

const db = new DatabaseSync(DATABASE)
db.exec(`
  CREATE TABLE IF NOT EXISTS orders
    (id TEXT PRIMARY KEY, amount TEXT, status TEXT, reference TEXT, batch TEXT) STRICT;
  CREATE TABLE IF NOT EXISTS applied_events (subject TEXT PRIMARY KEY, sequence INTEGER) STRICT;
`)
const run = (sql: string, ...values: (string | number)[]) => db.prepare(sql).run(...values)
const orderBy = (id: string) => db.prepare('SELECT * FROM orders WHERE id = ?').get(id)

// The handlers below are synchronous, so SQLite has one transaction at a time.
const store: EventStore = {
  apply: async ({ subject, sequence }, work) => {
    db.exec('BEGIN IMMEDIATE')
    try {
      const { changes } = run(
        `INSERT INTO applied_events VALUES (?, ?) ON CONFLICT (subject)
         DO UPDATE SET sequence = excluded.sequence WHERE sequence < excluded.sequence`,
        subject,
        sequence,
      )
      if (changes === 1) work()
      db.exec('COMMIT')
    } catch (error) {
      db.exec('ROLLBACK')
      throw error
    }
  },
}

const debits = new DebitCollection({ apiKey: API_KEY, baseUrl: BASE_URL })
const app = express()

app.post('/orders', express.json(), async (request, response) => {
  const { phoneNumber, bankIdentifier, amount } = request.body
  const id = `order-${randomUUID()}`
  // The order is stored first: its id makes a retry of the charge safe after a crash.
  run(`INSERT INTO orders VALUES (?, ?, 'charging', '', '')`, id, amount)
  try {
    const narration = `Order ${id.slice(-6)}`
    const charge = { phoneNumber, bankIdentifier, amount, narration, partnerReference: id }
    const { reference } = await debits.charge(charge)
    run('UPDATE orders SET reference = ? WHERE id = ?', reference, id)
    response.status(202).json({ id, reference })
  } catch (error) {
    // If the charge exists, its webhook decides. Express would answer with the status of an ApiError.
    if (!(error instanceof ApiError) || error.mayExist)
      throw new Error('The outcome is unknown', { cause: error })
    run(`UPDATE orders SET status = 'refused' WHERE id = ?`, id)
    response.status(422).json({ id, fields: error.fields })
  }
})

/** Waits for the outcome: the page after the checkout shows it. */
app.get('/orders/:id/outcome', async ({ params: { id } }, response) => {
  const order = orderBy(id)
  if (!order) {
    response.sendStatus(404)
    return
  }
  const { status } = await debits.waitFor(String(order.reference), { timeout: 60_000 })
  response.json({ id, status })
})

app.get('/orders/:id', ({ params: { id } }, response) => {
  const order = orderBy(id)
  return order ? response.json(order) : response.sendStatus(404)
})

const setStatus =
  (status: string) => (event: { data: { transaction: { partner_reference: string } } }) => {
    run(
      'UPDATE orders SET status = ? WHERE id = ?',
      status,
      event.data.transaction.partner_reference,
    )
  }

const receiver = webhooks.express({
  secrets: WEBHOOK_SECRET,
  store,
  on: {
    'transaction.completed': setStatus('shipped'),
    'transaction.failed': setStatus('failed'),
    'transaction.reversed': setStatus('returned'),
  },
})
app.post('/webhooks', receiver)

/** Compares the orders with the reports of all paid batches, and notes the batch of each order. */
app.post('/reconciliation', async (_request, response) => {
  const result = { matched: 0, unknown: [] as string[], differs: [] as string[] }
  for await (const { id: batch, status } of debits.settlements.list()) {
    if (status !== 'completed') continue
    const { lines } = await debits.settlements.report(batch)
    for (const { type, partner_reference: id, gross } of lines) {
      const order = orderBy(id)
      if (!order) result.unknown.push(id)
      else if (type === 'debit' && order.amount !== gross) result.differs.push(id)
      else {
        run('UPDATE orders SET batch = ? WHERE id = ?', batch, id)
        result.matched += 1
      }
    }
  }
  response.json(result)
})

const server = app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  process.stdout.write(`shop http://127.0.0.1:${port}\n`)
})
