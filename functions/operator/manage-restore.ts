import { defined } from '../../shared/domain/complete.ts'
import { GENERATION_MAX, isHeldBy, type Restore } from '../../shared/domain/operator/restore.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { invalid, Refusal, unlessRefused } from '../../shared/domain/refusal.ts'
import { iso } from '../../shared/domain/time.ts'
import { type Author, noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { restore as noun } from '../../shared/operator/nouns/operators.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { readGeneration, writeGeneration } from '../../shared/settlement/report/bucket.ts'
import { changeWrites } from '../../shared/store/operator/changes.ts'
import { changeRestore, findRestore } from '../../shared/store/operator/restores.ts'
import { findProvider, listProviders } from '../../shared/store/providers/providers.ts'
import { restoreView } from '../../shared/views/operator/restore.ts'

const fields = (restore: Restore | undefined) =>
  restore && {
    generation: restore.generation,
    released: restore.released,
    released_at: iso(restore.releasedAt),
  }

const view = async (restore: Restore | undefined) => restoreView(restore, await listProviders())

const change = (
  author: Author,
  nextOf: (previous: Restore | undefined) => Restore | Refusal,
  provider: ProviderId | undefined,
  runtime: Runtime,
) =>
  changeRestore(
    nextOf,
    (previous, next) =>
      changeWrites(
        { ...author, target: `generation ${next.generation}`, ...defined({ provider }) },
        fields(previous),
        fields(next),
      ),
    runtime,
  )

const notNext = (highest: number): Refusal =>
  invalid({
    generation: [
      highest < GENERATION_MAX
        ? `must be ${highest + 1}: the highest so far is ${highest}`
        : `all generations up to ${GENERATION_MAX} are used`,
    ],
  })

/** The bucket of another Region may lack the latest generation, and a restored table does. */
const readHighest = async () => {
  const [reserved, stored] = await Promise.all([readGeneration(), findRestore()])
  const inTable = stored?.generation ?? 1
  return { reserved, stored, inTable, highest: Math.max(reserved.generation, inTable) }
}

/** After a release a repeat would hold nothing. */
const isRepeatable = ({ releasedAt, released }: Restore): boolean =>
  releasedAt === null && released.length === 0

/**
 * Reserves the generation in the bucket first, so that no generation is used twice. Accepts the next one,
 * because there are nine in all, or the highest again until a release, also if the table never had it.
 */
const begin = async (generation: number, author: Author, runtime: Runtime) => {
  const { reserved, inTable, highest } = await readHighest()
  const isInterrupted = generation === reserved.generation && !reserved.isInTable
  if (generation === highest + 1) await writeGeneration({ generation, isInTable: false })
  else if (generation !== highest || !(generation === inTable || isInterrupted)) {
    return notNext(highest)
  }
  const nextOf = (previous: Restore | undefined) => {
    if (previous?.generation === generation && isRepeatable(previous)) return previous
    if (previous && previous.generation >= generation) return notNext(previous.generation)
    const { at: begunAt, by } = author
    return { generation, begunAt, by, released: [], releasedAt: null }
  }
  const result = await change(author, nextOf, undefined, runtime)
  // The table decides between two concurrent operators, and the bucket follows the table.
  const current = result instanceof Refusal ? await findRestore() : result
  if (current) await writeGeneration({ generation: current.generation, isInTable: true })
  return result
}

/** Bounds the item and the records of its changes. */
const RELEASED_MAX = 500

const tooMany = (): Refusal =>
  new Refusal(1400, { details: `${RELEASED_MAX} providers are released: release all together` })

const release = async (provider: ProviderId | undefined, author: Author, runtime: Runtime) => {
  if (provider && !(await findProvider(provider))) return noSuch('provider')
  const all = await listProviders()
  return change(
    author,
    (previous) => {
      if (!previous) return new Refusal(1404, { details: 'no restore has begun' })
      if (previous.releasedAt !== null) return previous
      const adds = provider !== undefined && isHeldBy(previous, provider)
      if (adds && previous.released.length >= RELEASED_MAX) return tooMany()
      const released = adds ? [...previous.released, provider] : previous.released
      // A restore that holds nobody must not hold a provider that is created later.
      const isEnded = !provider || all.every((one) => released.includes(one))
      if (!adds && !isEnded) return previous
      return { ...previous, released, releasedAt: isEnded ? author.at : null }
    },
    provider,
    runtime,
  )
}

export const manageRestore = operatorHandler(noun, {
  begin: async ({ generation }, author, runtime) =>
    unlessRefused(await begin(generation, author, runtime), view),
  release: async ({ provider }, author, runtime) =>
    unlessRefused(await release(provider, author, runtime), view),
  show: async () => {
    const { stored, highest } = await readHighest()
    return { ...(await view(stored)), highest_generation: highest }
  },
})

export const handler = manageRestore(real)
