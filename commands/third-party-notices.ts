import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

// Licences of bundled packages require their texts. esbuild keeps only comments in sources.

/** A folder of the packages that npm installed. */
const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/

type Manifest = {
  name: string
  version: string
  license?: string
  author?: string | { name: string }
  dependencies?: Record<string, string>
}

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** Returns the folders of a package and of all that it depends on; npm may nest or omit some. */
const withDependencies = (folder: string, modules: string, known = new Set<string>()) => {
  if (known.has(folder) || !existsSync(folder)) return known
  known.add(folder)
  for (const name of Object.keys(manifestIn(folder).dependencies ?? {})) {
    const nested = join(folder, 'node_modules', name)
    withDependencies(existsSync(nested) ? nested : join(modules, name), modules, known)
  }
  return known
}

const noticeOf = (folder: string) => {
  const { name, version, license, author } = manifestIn(folder)
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice)\b/i.test(file))
  const by = typeof author === 'string' ? author : author?.name
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  const title = `${name} ${version}, ${license}${by ? `, by ${by}` : ''}`
  return { name, license, title, text: texts.join('\n\n') }
}

/** Licences that need no notice. */
const WITHOUT_NOTICE = ['MIT-0', '0BSD']

/** The text of a licence without the copyright of a package. */
const TERMS = /^ *(?:Permission (?:is hereby granted|to use)|Apache License).*/ms

/** Adds the terms, from another package or this project, to packages that publish no text of their licence. */
const withTerms = (root: string, notices: ReturnType<typeof noticeOf>[]) => {
  const known = new Map([['MIT', readFileSync(join(root, 'LICENSE'), 'utf8')]])
  for (const { license, text } of notices) {
    if (license && TERMS.test(text)) known.set(license, text)
  }
  return notices.map(({ name, license = '', title, text }) => {
    if (text || WITHOUT_NOTICE.includes(license)) return { title, text }
    const [terms] = TERMS.exec(known.get(license) ?? '') ?? []
    if (!terms) throw new Error(`${name} has no text of its licence ${license}`)
    return { title, text: terms.trim() }
  })
}

/**
 * Returns the folders of the packages of a bundle.
 * @param sources the paths of bundled files
 * @param whole packages that are copied with the packages that their files contain
 */
const foldersOf = (root: string, sources: string[], whole: string[]): string[] => {
  const modules = join(root, 'node_modules')
  const bundled = sources.flatMap(
    (path) => PACKAGE.exec(resolve(root, path.replace('(disabled):', '')))?.[0] ?? [],
  )
  const copied = whole.flatMap((name) => [...withDependencies(join(modules, name), modules)])
  return [...new Set([...bundled, ...copied])].sort()
}

/** Returns the software bill of materials of a bundle, as CycloneDX. It has no time, so it is reproducible. */
export const billOfMaterials = (
  { name, version, license }: Manifest,
  ...packages: Parameters<typeof foldersOf>
): string => {
  const components = foldersOf(...packages).map((folder) => {
    const { name, version, license } = manifestIn(folder)
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
    const licenses = license ? [{ expression: license }] : []
    return { type: 'library', 'bom-ref': purl, name, version, licenses, purl }
  })
  const bill = {
    ...{ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 },
    metadata: {
      component: { type: 'application', name, version, licenses: [{ expression: license }] },
    },
    // npm can install a version in several folders.
    components: [...new Map(components.map((one) => [one.purl, one])).values()],
  }
  return `${JSON.stringify(bill, undefined, 2)}\n`
}

/** Returns the component of a Python package, in the version that the client's tests run with. */
export const pythonComponent = (name: string, license: string) => {
  const file = join(import.meta.dirname, '../sdk/python/requirements.txt')
  const [, version] = new RegExp(`^${name}==(\\S+)`, 'm').exec(readFileSync(file, 'utf8')) ?? []
  const purl = `pkg:pypi/${name}@${version}`
  const licenses = [{ expression: license }]
  return { type: 'library', 'bom-ref': purl, name, version, licenses, purl }
}

/** Returns the licence texts of packages. @throws Error for a package whose licence has no known text */
export const thirdPartyNotices = (...packages: Parameters<typeof foldersOf>): string => {
  const texts = withTerms(packages[0], foldersOf(...packages).map(noticeOf))
  const notices = Map.groupBy(texts, ({ text }) => text)
  const parts = [...notices].map(([text, packages]) => {
    const titles = new Set(packages.map(({ title }) => title))
    return [[...titles].sort().join('\n'), text].join('\n\n')
  })
  return `${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}
