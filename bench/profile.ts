import { type Profiler, Session } from 'node:inspector/promises'

/** Where the time of some work goes, by the package or the room of ours that it is spent in. */

const INTERVAL_MICROSECONDS = 100

type Node = Profiler.ProfileNode

export const profiled = async (work: () => Promise<unknown>): Promise<Map<string, number>> => {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_MICROSECONDS })
  await session.post('Profiler.start')
  await work()
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  return sharesOf(profile)
}

/** @returns the share of each owner, 0 to 1, the largest first; without what the profiler itself takes */
const sharesOf = ({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile) => {
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((id) => [id, node])))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const spent = new Map<string, number>()
  for (const [n, id] of samples.entries()) {
    const owner = ownerOf(byId.get(id), parents)
    if (owner === 'bench') continue
    spent.set(owner, (spent.get(owner) ?? 0) + (timeDeltas[n] ?? 0))
  }
  const whole = [...spent.values()].reduce((sum, one) => sum + one, 0)
  const sorted = [...spent].sort(([, one], [, other]) => other - one)
  return new Map(sorted.map(([owner, microseconds]) => [owner, microseconds / whole]))
}

const PACKAGE = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//
const ROOM = /.*\/(functions|shared\/\w+|bench)[/.]/

/** What Node does itself is its caller's. */
const ownerOf = (node: Node | undefined, parents: Map<number, Node>): string => {
  if (!node) return 'Node'
  const { functionName, url } = node.callFrame
  if (functionName === '(garbage collector)') return 'garbage collection'
  return PACKAGE.exec(url)?.[1] ?? ROOM.exec(url)?.[1] ?? ownerOf(parents.get(node.id), parents)
}
