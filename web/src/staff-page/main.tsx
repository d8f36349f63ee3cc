import '../design/tokens.css'
import '../design/base.css'
import './staff-page.css'
import './ui/ui.css'
import './stock/table.css'
import './stock/grid.css'
import './stock/row-parts.css'
import './stock/table-tablet.css'
import './stock/table-narrow.css'
import { createRoot } from 'react-dom/client'
import { applyTheme } from '../design/theme.ts'
import { resumeSession } from './session/signed-in.ts'
import { App } from './shell/app.tsx'
import { followNavigation } from './ui/navigation.ts'

applyTheme()
followNavigation()
resumeSession()
const place = document.getElementById('page')
if (place === null) throw new Error('index.html has no element with the id "page"')
// Error boundaries show the errors that they catch.
createRoot(place, { onCaughtError: () => {} }).render(<App />)
