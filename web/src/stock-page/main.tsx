import '../design/tokens.css'
import '../design/base.css'
import './stock-page.css'
import './table/table.css'
import './table/grid.css'
import './table/row-parts.css'
import './table/table-tablet.css'
import './table/table-narrow.css'
import { createRoot } from 'react-dom/client'
import { applyTheme } from '../design/theme.ts'
import { App } from './app.tsx'
import { resumeSession } from './session/signed-in.ts'

applyTheme()
resumeSession()
const place = document.getElementById('page')
if (place === null) throw new Error('index.html has no element with the id "page"')
// What is caught is shown where it was caught; everything else is still an error of the page.
createRoot(place, { onCaughtError: () => {} }).render(<App />)
