"""Steps of proofs that fail as they are displayed, each with its ratio on a grid (`bench`)."""

from __future__ import annotations

from verifiable_dp.algorithms import papers
from verifiable_dp.auditors.errata import bench
from verifiable_dp.core.claims import Source
from verifiable_dp.registry.errata import Erratum, Quotation

SAJED = (
    Erratum(
        "explicit-pulls",
        Source(papers.S1, "proof of Lemma 4.2", "its last line; the lemma is a rate and stands"),
        "false",
        (
            Quotation(
                "proof of Lemma 4.2",
                r"allow us to conclude and infer that under $\mathcal{E}$ the total number of pulls of arm "
                r"$a$ "
                r"is at most $\log(K\log(\nicefrac{{2}}{{\Delta_{a}}})/\beta)\left(\frac{1024}"
                r"{\Delta_{a}^{2}}+\frac{96}{\varepsilon\Delta_{a}}\right)$.",
            ),
        ),
        "An arm is pulled at most log(K log(2/Delta)/beta) (1024/Delta^2 + 96/(epsilon Delta)) times.",
        "The first epoch alone has 358 pulls at K = 2, Delta = 1, beta = .99, epsilon = 10, where the line "
        "has "
        "348: log(16 K/beta) is not within 8 log(K log 2/beta) for beta near 1. For beta up to .5 it holds.",
        "proof",
        bench.EXPLICIT_PULLS,
    ),
)

TAO = (
    Erratum(
        "bonus-step",
        Source(papers.TAO, "proof of Lemma 3, (16)", "the end of the line and the lemma stand"),
        "false",
        (
            Quotation(
                "Lemma 11",
                r"$\\ \leq \frac{10u^{\frac{1}{1+v}}(\log\frac{1}{\delta}\log^{1.5}T)^{\frac{v}{1+v}}}"
                r"{(\epsilon n_a)^{\frac{v}{1+v}}}\log^{\frac{v}{1+v}}T$",
            ),
        ),
        "2 log(1/delta)^(1/(1+v)) is at most 10 log^(v/(1+v)) T, for delta = 1/(2T^4).",
        "It fails for v = .5 from T = 1e6 on (29.3 > 24.0), and by more as v falls. With log^(1/(1+v)) T, "
        "which the next step has, it holds.",
        "proof",
        bench.BONUS_LINE,
    ),
    Erratum(
        "epochs-grow",
        Source(
            papers.TAO, "proof of Lemma 4", "the bound stands: with K for |S| every step of the sum holds"
        ),
        "false",
        (
            Quotation(
                "proof of Lemma 4",
                r"$\sum_{\tau \leq \tau(a)} R_{\tau} \leq \sum_{\tau \leq \tau(a)} 2^{\frac{1+\nu}{\nu} "
                r"[\tau - "
                r"\tau(a)]} R_{\tau(a)}$",
            ),
        ),
        "R_tau is at most 2^((1+v)/v (tau - tau(a))) R_tau(a).",
        "Not where S shrinks: at v = 1, beta = .1, R_2/R_1 is 2.18 and not 4 if 998 of 1000 arms go first. "
        "With K for |S| it holds.",
        "proof",
        bench.EPOCH_SUM,
    ),
    Erratum(
        "two-arms-at-most",
        Source(papers.TAO, "proof of Lemma 4"),
        "reading",
        (
            Quotation(
                "proof of Lemma 4",
                r"where the last inequality is due to the bounds $D_{\tau} > \Delta_a/2$, $|\mathcal{S}| \le "
                r"K$, $\tau(a) \le \log_2(2/\Delta_a)$ and $K \le 2$.",
            ),
        ),
        "K <= 2.",
        "K >= 2.",
        "text",
    ),
    Erratum(
        "gaps-above-one",
        Source(
            papers.TAO,
            "Lemma 4",
            "u is a constant in Section 3.1 and bounds the gaps, so that the rate absorbs it; Lemma 13 has "
            "the "
            "same",
        ),
        "reading",
        (
            Quotation(
                "proof of Lemma 4",
                r"which implying $D_{\tau(a)} \leq \Delta_a \leq D_{\tau(a)-1} = 2D_{\tau(a)}$.",
            ),
        ),
        "An arm goes in an epoch with Delta_a <= 2 D, whatever its gap, and log log(1/Delta_a) is a number.",
        "Gaps are in units of 2 D_1 = 1, which is no gap's unit for unbounded rewards: above it an arm takes "
        "the first epoch all the same. The lemma is about min(1, Delta_a).",
        "proof",
        bench.FIRST_EPOCH,
    ),
    Erratum(
        "local-sum",
        Source(papers.TAO, "proof of Theorem 7, Lemma 13"),
        "false",
        (
            Quotation(
                "Lemma 13",
                r"$\sum_{\tau \le \tau(a)} R_{\tau} \le \sum_{\tau \le \tau(a)} "
                r"\left(4^{-\frac{1+v}{v}}\right)"
                r"^{\tau-\tau(a)} R_{\tau(a)}$",
            ),
        ),
        "Epochs' lengths are at most (4^(-(1+v)/v))^(tau - tau(a)) R_tau(a), and sum to a geometric series.",
        "The sign is wrong: with tau <= tau(a) these terms grow, 273 R where the series has 1.07 R (v = 1, "
        "tau(a) = 3). With 4^((1+v)/v) it holds.",
        "proof",
        bench.GEOMETRIC_SUM,
    ),
    Erratum(
        "exponential-step",
        Source(
            papers.TAO, "proofs of Theorems 8, 9 and 11, (28) and (29)", "the rates stand, for epsilon <= 1"
        ),
        "false",
        (
            Quotation(
                "proof of Theorem 11",
                r"${8 \left(e^{\epsilon} - 1 \right)^2 \cdot \mathrm{KL}(\nu_2 \| \nu_2')} \ge \frac{\log "
                r"\frac{T\Delta}{4} - 2\alpha \log T}{8\epsilon^2 \cdot \mathrm{KL}(\nu_2 \| \nu_2')}$",
            ),
            Quotation(
                "proof of Theorem 11", r"the fact that $e^{\epsilon} - 1 \approx \epsilon$ when ϵ is small."
            ),
        ),
        "x/(8 (e^eps - 1)^2) >= x/(8 eps^2).",
        "e^eps - 1 exceeds eps, so the step goes the wrong way: by 2.95 at eps = 1. With 24 for 8 it holds "
        "for "
        "eps <= 1.",
        "proof",
        bench.EXPONENTIAL,
    ),
)

HANNA = (
    Erratum(
        "short-batch",
        Source(papers.HANNA, "proof of Theorem 1, (16)", "a constant that the theorem does not state"),
        "false",
        (
            Quotation(
                "Appendix A",
                r"When $q^{i}<Bd$, the regret can be bounded by $2Bd$, and when $q^{i}\geq Bd$, we bound "
                r"$n_{i}\leq 2q^{i}$.",
            ),
        ),
        "A batch with q^i < Bd has regret at most 2Bd.",
        "It has up to 2Bd rounds, and gaps reach 2: 4Bd. In one dimension, with 15 core actions near -1 "
        "pulled "
        "once and one pulled 15 times, the regret is 60 at Bd = 16.",
        "proof",
        bench.SHORT_BATCH,
    ),
    Erratum(
        "outline-gap",
        Source(papers.HANNA, "Section 3, against Appendix A, (15)"),
        "reading",
        (
            Quotation(
                "Section 3",
                r"Conditioned on this event, an action with gap $\Delta_{a}$ is eliminated when, or before, "
                r"$\gamma_{i}<\Delta_{a}/2$.",
            ),
            Quotation(
                "Appendix A",
                r"let $i$ be the smallest integer for which $\gamma_{i}<\frac{\Delta_{a}}{4}$.",
            ),
        ),
        "The outline of Theorem 1 removes an action at gamma < Delta/2.",
        "At gamma < Delta/4, as the proof has it.",
        "proof",
        bench.OUTLINE,
    ),
    Erratum(
        "local-width",
        Source(papers.HANNA, "proof of Theorem 2, B.2", "the theorem is a rate and stands"),
        "false",
        (
            Quotation(
                "Appendix B",
                r"$\gamma_{i}\leq\sqrt{\frac{4d}{q^{i}}\log\left(4KT^{2}\right)}+\frac{2d}{\epsilon_{0}}"
                r"\sqrt{\frac{\log(4KT^{2})}{q^{i}}}\leq$",
            ),
        ),
        "With n_i <= 2q^i, gamma_i has (2d/epsilon0) sqrt(log(4KT^2)/q^i).",
        "sqrt(2) is dropped: gamma_i has sqrt(n_i), and n_i may be 2q^i.",
        "proof",
        bench.LOCAL_WIDTH,
    ),
    Erratum(
        "all-actions-or-those-left",
        Source(papers.HANNA, "Lemmas 3 and 5, Algorithms 1 and 2", "either holds"),
        "reading",
        (
            Quotation(
                "Algorithm 1",
                r"$\gamma_{i}\leftarrow\sqrt{\frac{4d}{q^{i}}\log\left(4|\mathcal{A}_{i}|T^{2}\right)}+"
                r"\frac{2Bd^{2}+2d\log\left(4|\mathcal{A}_{i}|T^{2}\right)}{\epsilon q^{i}}$",
            ),
            Quotation(
                "Lemma 3",
                r"where "
                r"$\gamma_{i}=\sqrt{\frac{4d}{q^{i}}\log\left(4KT^{2}\right)}+\frac{2Bd^{2}+2d\log\left("
                r"4KT^{2}\right)}{\epsilon q^{i}}$.",
            ),
        ),
        "gamma_i has the number of actions that remain in the listings, all K in the lemmas.",
        "What is proved is proved for K. The listings' gamma holds as well: a batch's noise is independent "
        "of "
        "what remains, so that a union over that is enough.",
        "text",
    ),
    Erratum(
        "first-report",
        Source(papers.HANNA, "Algorithm 2, line 13, and Algorithm 3, line 20"),
        "reading",
        (
            Quotation(
                "Algorithm 2",
                r"13: $\hat{r}_{ia}\leftarrow\sum_{k=1}^{n_{j}}\hat{r}_{ia}^{(1)}\ \forall "
                r"a\in\mathcal{C}_{i}.$",
            ),
            Quotation(
                "Algorithm 3",
                r"20: $\hat{r}_{ia}\leftarrow\sum_{k=1}^{n_{j}}\hat{r}_{ia}^{(1)}\ \forall "
                r"a\in\mathcal{C}_{i}.$",
            ),
            Quotation("proof of Lemma 5", r"and $\hat{r}_{ia}=\sum_{j=1}^{n_{ia}}\hat{r}_{ia}^{(j)}$."),
        ),
        "Each sum has the first report n_j times.",
        "It has the n_ia reports of the action, as the proof of Lemma 5 has them.",
        "text",
    ),
)
