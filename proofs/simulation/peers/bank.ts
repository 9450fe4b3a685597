import { createHmac } from 'node:crypto'
import type { Engine } from '../engine/faults.ts'
import type { Peer, PeerAnswer, PeerRequest, PeerResponse } from '../engine/network.ts'
import type { BankPost, BankQuery } from '../engine/observations.ts'
import { accountAt } from '../scenario/fixtures.ts'
import type { PaymentResult } from '../scenario/scenario.ts'
import type { ScriptedReport } from '../scenario/script.ts'
import type { Books } from './books.ts'

/**
 * A bank with an HTTP endpoint, which follows docs/bank-protocol.md. Unless it is idempotent, each
 * POST has an effect.
 */

type BankResult = BankPost['verdict']

type Deps = Engine & {
  id: string
  /** It accepts the secret before and after a change. */
  secrets: readonly string[]
  books: Books
  bankPosts: BankPost[]
  queries: BankQuery[]
  onSubmission: (body: Record<string, unknown>) => 'accepted' | 'rejected'
  onAccepted: (body: Record<string, unknown>) => void
  onPayment: () => PaymentResult
  onRefund: () => PaymentResult
  onQuery: (queries: number) => PaymentResult
  /** Whether it acts on a key once, as docs/bank-protocol.md requires. */
  isIdempotent: boolean
  isOut: () => boolean
  /** Returns the outcome that the bank has by now. */
  outcomeOf: (uuid: string) => ScriptedReport | undefined
}

const json = (code: number, body: object): PeerAnswer => ({
  code,
  headers: { 'content-type': 'application/json' },
  text: JSON.stringify(body),
})

type About = { uuid: string; amount: unknown }

const referenceOf = ({ uuid }: About) => ({ bank_reference: `B-${uuid.slice(0, 8)}` })

const answers: Record<BankResult, (about: About) => PeerAnswer> = {
  accepted: (about) => json(202, { ...about, status: 'accepted', ...referenceOf(about) }),
  // The name of the payee has changed, and is no part of the protocol.
  paid: (about) =>
    json(201, { ...about, status: 'paid', ...referenceOf(about), account_name: 'Renamed' }),
  underway: (about) => json(202, { ...about, status: 'underway' }),
  rejected: (about) =>
    json(422, { ...about, status: 'rejected', code: 'insufficient_funds', message: 'No' }),
  nothing: () => json(404, {}),
}

const outcomeAnswer = ({ status, fee }: ScriptedReport, about: About): PeerAnswer =>
  json(200, {
    ...about,
    status,
    ...referenceOf(about),
    ...(status === 'failed' ? { message: 'Declined' } : { approval_method: 'ussd' }),
    ...(fee === undefined ? {} : { fee }),
  })

const OTHER_UUID = '85cb9470-fd1a-4344-b945-18a86d2efeac'

/** Returns replies that leave the result of a request unknown. */
const invalidAnswers = (path: BankPost['path'], method: string, about: About): PeerAnswer[] => {
  const otherAmount = `1${about.amount}`
  // The status that would end the request.
  const ofDebit = method === 'GET' ? 'completed' : 'accepted'
  const settled = path === '/submissions' ? ofDebit : 'paid'
  return [
    json(200, {}),
    json(202, { status: settled }),
    // Without its subject, or with another uuid or amount.
    json(202, { status: settled, bank_reference: 'B-1' }),
    json(202, { ...about, uuid: OTHER_UUID, status: settled, bank_reference: 'B-1' }),
    json(202, { ...about, amount: otherAmount, status: settled, bank_reference: 'B-1' }),
    json(422, { ...about, uuid: OTHER_UUID, status: 'rejected', message: 'No' }),
    json(422, { ...about, amount: otherAmount, status: 'rejected', message: 'No' }),
    json(200, { status: 'maybe', bank_reference: 'B-1' }),
    { code: 202, headers: {}, text: '<html>accepted</html>' },
    { code: 200, headers: {}, text: '' },
    json(302, {}),
    json(500, { ...about, status: settled, bank_reference: 'B-1' }),
  ]
}

/** Returns where a request arrived and by which secret it is signed. */
const receiptOf = (secrets: readonly string[], { url, method, headers, body }: PeerRequest) => {
  const { pathname, origin } = new URL(url)
  const signed = `${method}${pathname}${headers['x-timestamp']}${body}`
  const signedBy = (secret: string): boolean =>
    headers['x-signature'] === createHmac('sha256', secret).update(signed).digest('hex')
  return { url: origin, secret: secrets.find(signedBy) ?? '' }
}

type Reply = Pick<BankQuery, 'answer' | 'fee' | 'account'>

/** Records the query that a bank has received. */
const recordQuery = (deps: Deps, sent: PeerRequest, uuid: string, reply: Reply): void => {
  const { id: bank, secrets, clock, queries } = deps
  queries.push({ at: clock.now(), bank, uuid, by: sent.by, ...receiptOf(secrets, sent), ...reply })
}

const answerLookup = (deps: Deps, sent: PeerRequest, phone: string): PeerAnswer => {
  const account = accountAt(deps.id, phone, deps.clock.now())
  recordQuery(deps, sent, phone, account ? { answer: 'found', account } : { answer: 'nothing' })
  return account ? json(200, account) : json(404, {})
}

const isOutcome = (answer: BankQuery['answer']) => answer === 'completed' || answer === 'failed'

/** The requests that a bank has received, by idempotency key, and their results. */
const newRecords = (deps: Deps) => {
  const { id, secrets, clock, faults, books, bankPosts } = deps
  const known = new Map<string, BankPost>()
  const about = (uuid: string): About => ({ uuid, amount: known.get(uuid)?.body.amount })

  const pay = ({ path, body }: Pick<BankPost, 'path' | 'body'>): void => {
    if (path === '/settlements') books.write('payout', id, String(body.batch), body.amount)
    if (path === '/refunds') books.write('refund', id, String(body.debit_uuid), body.amount, true)
  }

  /** Returns the result for a key at its path; a query may end a payment under way. */
  const resultOf = (path: BankPost['path'], key: string): BankResult => {
    const first = known.get(key)
    if (first?.path !== path) return 'nothing'
    if (first.verdict !== 'underway') return first.verdict
    const verdict = deps.onQuery(deps.queries.filter(({ uuid }) => uuid === key).length)
    for (const one of bankPosts) if (one.idempotencyKey === key) one.verdict = verdict
    if (verdict === 'paid') pay(first)
    return verdict
  }

  const decide = (path: BankPost['path'], body: Record<string, unknown>): BankResult => {
    if (path === '/settlements') return deps.onPayment()
    if (path === '/refunds') return deps.onRefund()
    const verdict = deps.onSubmission(body)
    if (verdict === 'accepted') deps.onAccepted(body)
    return verdict
  }

  const submitted = (path: BankPost['path'], sent: PeerRequest): BankResult => {
    const { headers, body: raw, by } = sent
    const key = String(headers['x-idempotency-key'])
    const body = JSON.parse(raw) as Record<string, unknown>
    const first = known.get(key)
    const isNew = first === undefined
    // Two workers that query before either has sent need the key: no query shows them each other.
    const isUnseen = deps.queries.some(
      (query) => query.uuid === key && query.by === by && query.at < (first?.at ?? 0),
    )
    const isAgain = !isNew && !deps.isIdempotent && !isUnseen
    const reply = isNew ? decide(path, body) : resultOf(path, key)
    const isPayment = isNew && reply === 'rejected' && path !== '/submissions'
    // Nobody can know of a payment that its bank rejects and forgets.
    const isMade = isPayment && !faults.has('bank forgets')
    const verdict = isMade && faults.strikes('bank pays what it rejects') ? 'paid' : reply
    const post: BankPost = {
      at: clock.now(),
      ...receiptOf(secrets, sent),
      bank: id,
      path,
      idempotencyKey: key,
      body,
      effective: isNew || isAgain,
      verdict,
      by,
    }
    if (isNew) known.set(key, post)
    if (verdict === 'paid' && post.effective) pay(post)
    bankPosts.push(post)
    return reply
  }

  const answerQuery = (sent: PeerRequest, path: BankPost['path'], uuid: string): PeerAnswer => {
    // A copy lags behind until the bank has told the outcome.
    const isTold = deps.queries.some((query) => query.uuid === uuid && isOutcome(query.answer))
    const mayForget = known.has(uuid) && deps.isIdempotent && !isTold
    const verdict = mayForget && faults.strikes('bank forgets') ? 'nothing' : resultOf(path, uuid)
    const outcome = verdict === 'accepted' ? deps.outcomeOf(uuid) : undefined
    const answer = (outcome?.status ?? verdict) as BankQuery['answer']
    const fee = outcome?.fee === undefined ? {} : { fee: outcome.fee }
    recordQuery(deps, sent, uuid, { answer, ...fee })
    return outcome ? outcomeAnswer(outcome, about(uuid)) : answers[verdict](about(uuid))
  }

  return { about, submitted, answerQuery }
}

export const newBank = (deps: Deps): Peer => {
  const { secrets, random, faults } = deps
  const { about, submitted, answerQuery } = newRecords(deps)
  const withoutAnswer = (sent: PeerRequest, uuid: string): void =>
    recordQuery(deps, sent, uuid, { answer: 'none' })
  return {
    isKnown: () => true,
    connects: () => 'well',
    take: (sent): PeerResponse => {
      const isSlow = faults.strikes('bank slow')
      const after = isSlow ? random.between(2_000, 25_000) : random.between(30, 1_500)
      const [, kind = '', uuid = ''] = new URL(sent.url).pathname.split('/')
      if (deps.isOut() || faults.strikes('bank down')) {
        if (sent.method === 'GET') withoutAnswer(sent, uuid)
        return { after, answer: random.happens(0.5) ? 'broken off' : json(503, {}) }
      }
      if (receiptOf(secrets, sent).secret === '') return { after, answer: json(401, {}) }
      const path = `/${kind}` as BankPost['path']
      const key = uuid || String(sent.headers['x-idempotency-key'])
      const nonsense = () => random.pick(invalidAnswers(path, sent.method, about(key)))
      if (sent.method === 'GET') {
        if (!faults.strikes('bank talks nonsense')) {
          const isLookup = kind === 'accounts'
          const answer = isLookup ? answerLookup(deps, sent, uuid) : answerQuery(sent, path, uuid)
          const query = deps.queries.at(-1)
          return { after, answer, onEnd: (isHeard) => Object.assign(query ?? {}, { isHeard }) }
        }
        withoutAnswer(sent, uuid)
        return { after, answer: nonsense() }
      }
      if (faults.strikes('bank silent')) return { after, answer: 'silence' }
      if (faults.strikes('bank talks nonsense') && random.happens(0.5)) {
        return { after, answer: nonsense() }
      }
      const verdict = submitted(path, sent)
      if (faults.strikes('bank accepts in silence')) return { after, answer: 'silence' }
      if (faults.strikes('bank breaks off')) return { after, answer: 'broken off' }
      if (faults.strikes('bank talks nonsense')) return { after, answer: nonsense() }
      return { after, answer: answers[verdict](about(key)) }
    },
  }
}
