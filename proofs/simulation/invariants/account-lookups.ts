import type { ApiCall } from '../engine/observations.ts'
import { codeIn, fieldsOf, isAccepted, isReplay, membersOf } from './calls.ts'
import type { ObservationIndex } from './observation-index.ts'
import { ownerIn } from './raw-items.ts'
import type { Check, Checks } from './rules.ts'
import { MINUTE_MS, SECOND_MS } from './time-and-money.ts'

/** The accounts that banks have for numbers that are unknown here. */

export const chargesIn = ({ observations: { calls }, startOf }: ObservationIndex) =>
  calls.flatMap((call) => {
    const { name, reply, invocation, at } = call
    const { phone_number: phone, bank_identifier: bank } = fieldsOf(call)
    const since = startOf(invocation, at)
    return name === 'charge' && reply
      ? [{ call, reply, phone: String(phone), bank: String(bank), since }]
      : []
  })

const MISS_MS = 10 * MINUTE_MS
const NO_ACCOUNT = 1404

/** Returns the queries about the number of a charge that its invocation sent to its bank. */
const lookupsOf = (call: ApiCall, { queriesOf }: ObservationIndex) => {
  const { phone_number: phone, bank_identifier: bank } = fieldsOf(call)
  const all = queriesOf.get(String(phone)) ?? []
  return all.filter((one) => one.by === call.invocation && one.bank === bank)
}

/** A charge adds the account that its own bank has for its number. */
const accountsAreOfTheirBank: Check = (index, report) => {
  for (const { before, after, by } of index.observations.changes) {
    const call = index.callBy.get(by?.invocation ?? 0)
    if (after?.entity !== 'account' || call?.name !== 'charge') continue
    const { phone_number: phone, bank_identifier: bank } = fieldsOf(call)
    const isOfCharge = ownerIn(after.pk) === phone && ownerIn(after.sk) === bank
    const isFound = lookupsOf(call, index).some(
      ({ account }) =>
        account?.account_number === after.accountNumber &&
        account?.active === (after.status === 'active'),
    )
    if (before || !isOfCharge || !isFound)
      report(after.pk, 'has an account that differs from that of its bank')
  }
}

/** Returns when charges learned and stored that a bank does not know a number. */
const missesIn = ({ queries, changesBy }: ObservationIndex) =>
  Map.groupBy(
    queries
      .filter(({ answer }) => answer === 'nothing')
      .flatMap(({ bank, uuid, by, since: from }) =>
        (changesBy.get(by) ?? [])
          .filter(({ after }) => after?.entity === 'missed-account')
          .map(({ at: writtenAt }) => ({ of: `${bank} ${uuid}`, from, writtenAt })),
      ),
    ({ of }) => of,
  )

/** A bank that does not know a number is not asked for it again in ten minutes. */
const missesLast: Check = (index, report) => {
  const end = MISS_MS - 2 * index.setup.skew - SECOND_MS
  const misses = missesIn(index)
  for (const { bank, uuid, since } of index.queries) {
    const isAgain = misses
      .get(`${bank} ${uuid}`)
      ?.some(({ from, writtenAt }) => writtenAt < since && since < from + end)
    if (isAgain) report(uuid, `was asked for again at ${bank}`)
  }
}

/** A charge gets the published reply, and asks only if it must. */
const unknownNumbersAreAnswered: Check = (index, report) => {
  const { isHealthy, endpoints, skew } = index.setup
  const misses = missesIn(index)
  for (const { call, reply, bank, phone, since } of chargesIn(index)) {
    if (!endpoints.includes(bank)) continue
    const settings = index.timeline.recent('accountLookup', bank, since, reply.at)
    const numbers = index.timeline.during('customer', `${phone} ${bank}`, since, reply.at)
    const isAsked = lookupsOf(call, index).length > 0
    const isRefused = codeIn(membersOf(reply.body)) === NO_ACCOUNT
    const lasts = MISS_MS + 2 * skew + SECOND_MS
    const isMissed = misses
      .get(`${bank} ${phone}`)
      ?.some(({ from, writtenAt }) => writtenAt <= reply.at && since < from + lasts)
    const mustAsk = !settings.includes('off') && numbers.every((one) => !one)
    const about = `${phone} at ${bank}`
    if ((isAsked || isRefused) && !settings.includes('on')) report(about, 'was asked for')
    if (isAsked && !numbers.includes(undefined)) report(about, 'was asked for, but is known')
    if (isRefused && !isMissed) report(about, 'was refused, but its bank was not asked')
    if (isAccepted(call) && !isReplay(reply) && mustAsk)
      report(about, 'was charged without an account')
    const isSilent = JSON.stringify(reply.body).includes('"does not answer"')
    if (isHealthy && isSilent) report(about, 'was refused, though its bank answered')
  }
}

export const checks: Checks = {
  66: [accountsAreOfTheirBank, missesLast, unknownNumbersAreAnswered],
}
