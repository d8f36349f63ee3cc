import '../design/tokens.css'
import '../design/base.css'
import './staff-page.css'
import './ui/ui.css'
import './stock/stock.css'
import { createRoot } from 'react-dom/client'
import { applyTheme } from '../design/theme.ts'
import { resumeSession } from './session/signed-in.ts'
import { App } from './shell/app.tsx'

applyTheme()
resumeSession()
const place = document.getElementById('page')
if (place === null) throw new Error('index.html has no element with the id "page"')
// What is caught is shown where it was caught; everything else is still an error of the page.
createRoot(place, { onCaughtError: () => {} }).render(<App />)
