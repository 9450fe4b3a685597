import type { ApiCall, BankQuery } from '../engine/observations.ts'
import { codeIn, isAccepted, type Members, membersOf } from './calls.ts'
import type { Check, ObservationIndex } from './observation-index.ts'
import { ownerIn } from './raw-items.ts'
import { MINUTE_MS, SECOND_MS } from './time-and-money.ts'

/** 66: charges to numbers that are unknown here, at banks that are asked for them. */

const MISS_MS = 10 * MINUTE_MS
const NO_ACCOUNT = 1404

const fieldsOf = ({ sent }: ApiCall): Members => {
  const body = membersOf(sent)
  return membersOf(body.debit_request ?? body)
}

/** Returns the queries about a number that one invocation sent. */
const lookupsIn = ({ observations: { queries } }: ObservationIndex) => {
  const byInvocation = Map.groupBy(queries, ({ by }) => by)
  return (by: number | undefined, bank: unknown, phone: unknown): BankQuery[] =>
    (byInvocation.get(by) ?? []).filter((one) => one.bank === bank && one.uuid === phone)
}

/** 66: a charge adds the account that its own bank has for its number. */
export const accountsAreOfTheirBank: Check = (index, report) => {
  const lookups = lookupsIn(index)
  for (const { before, after, by } of index.observations.changes) {
    const call = index.callBy.get(by?.invocation ?? 0)
    if (after?.entity !== 'account' || call?.name !== 'charge') continue
    const { phone_number: phone, bank_identifier: bank } = fieldsOf(call)
    const isOfCharge = ownerIn(after.pk) === phone && ownerIn(after.sk) === bank
    const isFound = lookups(by?.invocation, bank, phone).some(
      ({ answer, account }) => answer === 'found' && account === after.accountNumber,
    )
    if (before || !isOfCharge || !isFound) report(after.pk, 'has an account that its bank lacks')
  }
}

type Miss = { bank: string; phone: string; from: number; writtenAt: number }

/** The numbers that banks do not know, as charges stored them. */
const missesIn = ({ observations, changesBy, startOf }: ObservationIndex): Miss[] =>
  observations.queries
    .filter(({ answer }) => answer === 'nothing')
    .flatMap(({ bank, uuid: phone, by, at }) =>
      (changesBy.get(by) ?? []).flatMap(({ after, at: writtenAt }) =>
        after?.entity === 'missed-account'
          ? [{ bank, phone, from: startOf(by, at), writtenAt }]
          : [],
      ),
    )

/** 66: a bank that does not know a number is not asked for it again in ten minutes. */
export const missesLast: Check = (index, report) => {
  const { observations, startOf } = index
  const end = MISS_MS - 2 * observations.setup.skew - SECOND_MS
  const misses = Map.groupBy(missesIn(index), ({ bank, phone }) => `${bank} ${phone}`)
  for (const { bank, uuid, by, at } of observations.queries) {
    const start = startOf(by, at)
    const isAgain = misses
      .get(`${bank} ${uuid}`)
      ?.some(({ from, writtenAt }) => writtenAt < start && start < from + end)
    if (isAgain) report(uuid, `was asked for again at ${bank}`)
  }
}

/** 66: a charge gets the published reply, and asks only if it must. */
export const unknownNumbersAreAnswered: Check = (index, report) => {
  const { observations, timeline, startOf } = index
  const { isHealthy, endpoints, skew } = observations.setup
  const lookups = lookupsIn(index)
  const misses = missesIn(index)
  const isMissed = (bank: unknown, phone: unknown, from: number, until: number): boolean =>
    misses.some(
      (one) =>
        [one.bank === bank, one.phone === phone, one.writtenAt <= until].every(Boolean) &&
        from < one.from + MISS_MS + 2 * skew + SECOND_MS,
    )
  for (const call of observations.calls) {
    const { phone_number: phone, bank_identifier: bank } = fieldsOf(call)
    const { reply, invocation } = call
    if (call.name !== 'charge' || !reply || !endpoints.includes(String(bank))) continue
    const from = startOf(invocation, call.at)
    const settings = timeline.recent('accountLookup', String(bank), from, reply.at)
    const numbers = timeline.during('customer', `${phone} ${bank}`, from, reply.at)
    const isAsked = lookups(invocation, bank, phone).length > 0
    const isRefused = codeIn(membersOf(reply.body)) === NO_ACCOUNT
    const isReplay = reply.headers['Idempotent-Replayed'] === 'true'
    const about = `${phone} at ${bank}`
    if ((isAsked || isRefused) && !settings.includes('on')) report(about, 'was asked for')
    if (isAsked && !numbers.includes(undefined)) report(about, 'was asked for, but is known')
    if (isRefused && !isMissed(bank, phone, from, reply.at))
      report(about, 'was refused, but its bank was not asked')
    if (isAccepted(call) && !isReplay && !settings.includes('off') && numbers.every((one) => !one))
      report(about, 'was charged without an account')
    const isSilent = JSON.stringify(reply.body).includes('"does not answer"')
    if (isHealthy && isSilent) report(about, 'was refused, though its bank answered')
  }
}
