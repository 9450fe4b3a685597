import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { BUILT_PAGE, buildPage } from '../console/server/assets.ts'
import { plain } from '../infra/bundles/build.ts'
import { nodeModules, pruned } from '../infra/bundles/plugins.ts'
import { guideDrawings } from '../sandbox/pages/guides.ts'
import { buildGuideScript, GUIDE_SCRIPT } from '../sandbox/pages/pages.ts'
import { billOfMaterials, thirdPartyNotices } from './third-party-notices.ts'

/** `npm run -s pack`: bundles the commands without CDK and prints the path of the tarball. */

const ROOT = join(import.meta.dirname, '..')
const FOLDER = join(ROOT, 'dist/package')
const SCALAR = '@scalar/api-reference'
/** The versions of Node that have process.getBuiltinModule, which the bundle uses. */
const NODE = { range: '^20.18 || >=22.3', words: 'Node 20 from 20.18, or 22.3 or later' }

/** Features that Node 20 lacks. */
const POLYFILLS = [
  ...[
    'array/from-async',
    'async-disposable-stack/index',
    'json/index',
    'map/group-by',
    'object/group-by',
  ],
  ...['promise/with-resolvers', 'regexp/escape', 'set/union'],
].map((feature) => join(ROOT, `node_modules/core-js/actual/${feature}.js`))

const { version, description, license } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
)

rmSync(FOLDER, { recursive: true, force: true })
const { metafile } = await build({
  ...plain,
  target: 'node20',
  plugins: [nodeModules, pruned],
  splitting: true,
  metafile: true,
  // The sandbox finds a command by the name of its class.
  keepNames: true,
  // Only `--bundles` needs the first, which the package does not support; the drawings are made here.
  external: ['esbuild', 'beautiful-mermaid'],
  entryPoints: { debit: 'commands/debit.ts' },
  inject: POLYFILLS,
  outdir: FOLDER,
  banner: {
    js: [
      "import { createRequire as requireOf } from 'node:module';",
      'const require = requireOf(import.meta.url);',
      `if (!process.getBuiltinModule) { console.error('debit needs ${NODE.words}'); process.exit(1) }`,
    ].join(' '),
  },
})
const debit = join(FOLDER, 'debit.mjs')
writeFileSync(debit, `#!/usr/bin/env node\n${readFileSync(debit, 'utf8')}`)
for (const file of ['pages.css', 'icon.svg']) {
  cpSync(join(ROOT, 'sandbox/pages', file), join(FOLDER, file))
}
for (const folder of ['docs', 'events']) {
  cpSync(join(ROOT, folder), join(FOLDER, folder), { recursive: true })
}
mkdirSync(join(FOLDER, 'docs/drawings'))
for (const [path, drawing] of await guideDrawings()) {
  writeFileSync(join(FOLDER, 'docs', path), drawing)
}
const guideScript = await buildGuideScript()
writeFileSync(join(FOLDER, GUIDE_SCRIPT), guideScript.script)
const scalar = JSON.parse(readFileSync(join(ROOT, 'node_modules', SCALAR, 'package.json'), 'utf8'))
const scripts = join('node_modules', SCALAR, 'dist/browser')
cpSync(join(ROOT, scripts), join(FOLDER, scripts), {
  recursive: true,
  filter: (path) => !/\.map$|\/standalone\.js$/.test(path),
})
// The scripts include the packages that Scalar's own manifest would install.
writeFileSync(
  join(FOLDER, 'node_modules', SCALAR, 'package.json'),
  JSON.stringify({
    name: SCALAR,
    version: scalar.version,
    license: scalar.license,
    author: scalar.author,
    exports: './dist/index.js',
  }),
)
const page = await buildPage()
mkdirSync(join(FOLDER, BUILT_PAGE))
writeFileSync(join(FOLDER, BUILT_PAGE, 'page.js'), page.script)
writeFileSync(join(FOLDER, BUILT_PAGE, 'page.css'), page.style)
cpSync(join(ROOT, 'LICENSE'), join(FOLDER, 'LICENSE'))
const sources = [...Object.keys(metafile.inputs), ...page.sources, ...guideScript.sources]
writeFileSync(join(FOLDER, 'THIRD-PARTY-NOTICES'), thirdPartyNotices(ROOT, sources, [SCALAR]))
const manifest = {
  name: 'debit-collection-service',
  version,
  description,
  license,
  type: 'module',
  bin: { debit: 'debit.mjs' },
  engines: { node: NODE.range },
  dependencies: { [SCALAR]: '*' },
  bundleDependencies: [SCALAR],
}
writeFileSync(join(FOLDER, 'package.json'), JSON.stringify(manifest, undefined, 2))
const readme = `# ${manifest.name}

${description}

\`\`\`sh
npx debit-collection-service sandbox    # the service on this machine; its start page leads to the guides
\`\`\`
`
writeFileSync(join(FOLDER, 'README.md'), readme)
const bill = billOfMaterials(manifest, ROOT, sources, [SCALAR])
writeFileSync(join(FOLDER, 'sbom.cdx.json'), bill)
const name = execFileSync('npm', ['pack', '--silent', '--pack-destination', dirname(FOLDER)], {
  cwd: FOLDER,
  encoding: 'utf8',
})
process.stdout.write(`${join(dirname(FOLDER), name.trim())}\n`)
